from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _
from msgspec.structs import replace as replace_columns

from accounts.models import Team
from common.errors import InvalidInput
from common.tables.table import Table
from common.text.numbers import parse_whole_number
from leaderboard.counting import stars
from leaderboard.counting.board_keys import Board
from leaderboard.counting.contestants import full_slug
from leaderboard.errors import NoSuchSnapshot
from leaderboard.export_rows import VoteRow
from leaderboard.exports import imported_votes, votes
from leaderboard.exports import stars as exported_stars
from leaderboard.exports.columns import STARS, VOTES, VOTES_WITH_PROMPTS
from leaderboard.exports.conversations import VoteWithPrompts, with_prompts
from leaderboard.exports.stars import StarRow
from leaderboard.models import COMPARE, AggregationRun
from leaderboard.models.imported import SCOPE

AnyRow = TypeVar("AnyRow", VoteRow, StarRow)


@dataclass(frozen=True)
class StarExport:
    """Rows of stars, and the file's name without suffix."""

    name: str
    export_range: votes.ExportRange
    table = STARS

    def batches(self) -> Iterator[list[StarRow]]:
        rows = exported_stars.batches(self.export_range)
        return _with_full_slugs(rows, self.export_range, "model")


@dataclass(frozen=True)
class Export:
    """Rows of votes, and the file's name without suffix."""

    name: str
    export_range: votes.ExportRange
    prompts: bool = False

    @property
    def table(self) -> Table:
        return VOTES_WITH_PROMPTS if self.prompts else VOTES

    def batches(self) -> Iterator[list[VoteRow]] | Iterator[list[VoteWithPrompts]]:
        """Yield the rows; pseudonyms differ in each call."""
        board = Board.parse(self.export_range.scope)
        if self.prompts:
            return with_prompts(votes.batches(self.export_range), until=self.export_range.last_order)
        if board.name == COMPARE:
            rows = stars.batches(self.export_range.last_change, votes.new_pseudonyms(), board.team)
        else:
            read = imported_votes.batches if self.export_range.scope.startswith(SCOPE) else votes.batches
            rows = read(self.export_range)
        return _with_full_slugs(rows, self.export_range, "model_left", "model_right")


def _with_full_slugs(
    batches: Iterator[list[AnyRow]], export_range: votes.ExportRange, *columns: str
) -> Iterator[list[AnyRow]]:
    slug = _team_of_models(Board.parse(export_range.scope))
    if not slug:
        return batches
    return (
        [replace_columns(row, **{name: full_slug(getattr(row, name), slug) for name in columns}) for row in rows]
        for rows in batches
    )


def _team_of_models(board: Board) -> str:
    """Return the slug of the team whose own models the board may have, or ""."""
    if board.series:
        newest = AggregationRun.objects.of_review(board.series).values_list("team__slug", flat=True).first()
        return newest or ""
    return "" if board.team is None else Team.objects.values_list("slug", flat=True).get(pk=board.team)


def open_export(
    *, snapshot: str = "", since: str = "", prompts: bool = False, team: int | None = None, series: str = ""
) -> Export:
    """Return the votes of a snapshot, those since a time or after a number, or by default Overall's votes as of now.

    prompts: include prompts and answers with consent. series: of a review, whose votes are then meant instead. The
    caller checks that its results may be read. Raises NoSuchSnapshot and InvalidInput.
    """
    if snapshot and since:
        raise InvalidInput(_("Choose either a snapshot or a start, not both."))
    if prompts and team is not None:
        raise _prompts_refused(_("Prompts of a team are not exported."))
    if prompts and series:
        raise _prompts_refused(_("Prompts of a review are not exported."))
    if prompts and not settings.ARENA_PUBLISH_PROMPTS:
        raise _prompts_refused(_("This arena does not publish prompts."))
    if snapshot:
        export = snapshot_export(get_run(snapshot, team, series))
    else:
        current = votes.current_range(team, series)
        export = Export("votes", _range_since(current, since) if since else current)
    if prompts and (export.export_range.scope == COMPARE or export.export_range.scope.startswith(SCOPE)):
        raise _prompts_refused(_("Only votes on battles between two models come with prompts."))
    return replace(export, prompts=prompts)


def _prompts_refused(reason: str) -> InvalidInput:
    return InvalidInput(reason, fields={"prompts": [reason]})


def open_star_export(*, snapshot: str = "", since: str = "", team: int | None = None) -> StarExport:
    """Return stars as open_export does votes. Raises NoSuchSnapshot and InvalidInput."""
    if snapshot and since:
        raise InvalidInput(_("Choose either a snapshot or a start, not both."))
    if snapshot:
        run = get_run(snapshot, team)
        if Board.parse(run.scope).name != COMPARE:
            raise NoSuchSnapshot
        return StarExport(f"stars-{run.public_id}", votes.snapshot_range(run))
    scope = Board(COMPARE, team).scope
    current = votes.ExportRange(scope, last_order=0, last_change=stars.last_star(team))
    return StarExport("stars", _range_since(current, since) if since else current)


def get_run(snapshot: str, team: int | None = None, series: str = "") -> AggregationRun:
    """Return a finished run. Raises NoSuchSnapshot."""
    runs = AggregationRun.objects
    done = runs.of_review(series) if series else runs.published(team=team)
    run = None if "\x00" in snapshot else done.filter(public_id=snapshot).first()
    if run is None:
        raise NoSuchSnapshot
    return run


def snapshot_export(run: AggregationRun) -> Export:
    return Export(f"votes-{run.public_id}", votes.snapshot_range(run))


def _range_since(export_range: votes.ExportRange, start: str) -> votes.ExportRange:
    """Return the range limited to votes after a number or since an ISO 8601 time. Raises InvalidInput."""
    if (number := parse_whole_number(start)) is not None:
        return replace(export_range, after_number=number)
    try:
        time = datetime.fromisoformat(start)
    except ValueError:
        message = _("A time, as 2026-01-31T12:00:00Z, or the number of the last vote you have.")
        raise InvalidInput(message, fields={"since": [message]}) from None
    return replace(export_range, since=time if time.tzinfo else time.replace(tzinfo=UTC))
