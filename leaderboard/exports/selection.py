"""Which votes an export is of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.utils.translation import gettext as _

from common.errors import InvalidInput
from leaderboard.counting import stars
from leaderboard.errors import NoSuchSnapshot
from leaderboard.export_rows import VoteRow
from leaderboard.exports import imported_votes, votes
from leaderboard.exports import stars as exported_stars
from leaderboard.exports.columns import STARS, VOTES, VOTES_WITH_PROMPTS, Table
from leaderboard.exports.conversations import VoteWithPrompts, with_prompts
from leaderboard.exports.stars import StarRow
from leaderboard.models import COMPARE, AggregationRun
from leaderboard.models.imported import SCOPE


@dataclass(frozen=True)
class StarExport:
    """As Export, of stars."""

    name: str
    moment: votes.Moment
    table = STARS

    def batches(self) -> Iterator[list[StarRow]]:
        return exported_stars.batches(self.moment)


@dataclass(frozen=True)
class Export:
    """Its file's name, without the ending, and its rows."""

    name: str
    moment: votes.Moment
    prompts: bool = False

    @property
    def table(self) -> Table:
        return VOTES_WITH_PROMPTS if self.prompts else VOTES

    def batches(self) -> Iterator[list[VoteRow]] | Iterator[list[VoteWithPrompts]]:
        """Afresh with every call: with other pseudonyms."""
        if self.prompts:
            return with_prompts(votes.batches(self.moment))
        if self.moment.scope == COMPARE:
            return stars.batches(self.moment.last_change, votes.new_pseudonyms())
        read = imported_votes.batches if self.moment.scope.startswith(SCOPE) else votes.batches
        return read(self.moment)


def open_export(*, snapshot: str = "", since: str = "", prompts: bool = False) -> Export:
    """The votes of a snapshot; those since a time or after a number; without either, every blind vote as it stands now.

    prompts: with what was asked and answered, where there is consent. Raises NoSuchSnapshot and InvalidInput.
    """
    if snapshot and since:
        raise InvalidInput(_("Choose either a snapshot or a start, not both."))
    if prompts and not settings.ARENA_PUBLISH_PROMPTS:
        raise _no_prompts(_("This arena does not publish prompts."))
    if snapshot:
        export = export_of(run_of(snapshot))
    else:
        now = votes.moment_now()
        export = Export("votes", _since(now, since) if since else now)
    if prompts and (export.moment.scope == COMPARE or export.moment.scope.startswith(SCOPE)):
        raise _no_prompts(_("Only votes on battles between two models come with prompts."))
    return replace(export, prompts=prompts)


def _no_prompts(why: str) -> InvalidInput:
    return InvalidInput(why, fields={"prompts": [why]})


def open_star_export(*, snapshot: str = "", since: str = "") -> StarExport:
    """The stars that a snapshot of the board Compare knew; those since a time or after a number; or all.

    Raises NoSuchSnapshot and InvalidInput.
    """
    if snapshot and since:
        raise InvalidInput(_("Choose either a snapshot or a start, not both."))
    if snapshot:
        run = run_of(snapshot)
        if run.scope != COMPARE:
            raise NoSuchSnapshot
        return StarExport(f"stars-{run.public_id}", votes.moment_of(run))
    now = votes.Moment(COMPARE, last_order=0, last_change=stars.last_star())
    return StarExport("stars", _since(now, since) if since else now)


def run_of(snapshot: str) -> AggregationRun:
    """Raises NoSuchSnapshot."""
    done = AggregationRun.objects.filter(state=AggregationRun.State.DONE)
    run = None if "\x00" in snapshot else done.filter(public_id=snapshot).first()
    if run is None:
        raise NoSuchSnapshot
    return run


def export_of(run: AggregationRun) -> Export:
    return Export(f"votes-{run.public_id}", votes.moment_of(run))


def _since(moment: votes.Moment, said: str) -> votes.Moment:
    """A number is that of the last vote somebody has; anything else is a time. Raises InvalidInput."""
    if said.isascii() and said.isdecimal() and len(said) <= 18:
        return replace(moment, after_order=int(said))
    try:
        time = datetime.fromisoformat(said)
    except ValueError:
        message = _("A time, as 2026-01-31T12:00:00Z, or the number of the last vote you have.")
        raise InvalidInput(message, fields={"since": [message]}) from None
    return replace(moment, since=time if time.tzinfo else time.replace(tzinfo=UTC))
