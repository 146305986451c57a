"""Aggregation run: count pending votes, fit the boards and publish snapshots.

A run is one transaction under one lock for all boards. Overall gets a row for every run, another board only for a
snapshot or a failure.
"""

from collections import defaultdict
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Max

from battles.labels import daily_caps
from battles.labels.duplicates import excess_duplicates
from battles.labels.labelling import relabel_pending
from battles.models import Vote, VoteQuerySet
from common import tracing
from common.allocator import keep_freed_arrays
from common.tracing import SpanName
from leaderboard.aggregation import review_boards, team_boards
from leaderboard.aggregation.fit_boards import (
    FittedBoard,
    LiveFigures,
    PendingBoard,
    RefitScope,
    RunFacts,
    fit_boards,
    is_thorough_fit_due,
    new_run,
)
from leaderboard.aggregation.imported_boards import publish_outdated
from leaderboard.aggregation.publishing import configure_transaction, has_changed, store, votes_since
from leaderboard.counting import reviews, schedule, stars, tallies
from leaderboard.counting.board_keys import BOARDS_OF_VOTE, counts_votes, is_own_board
from leaderboard.counting.live_elo import elo_ratings_after
from leaderboard.counting.new_votes import early_slot
from leaderboard.counting.revealed_calls import RevealCutoff, median_first_token_ms
from leaderboard.counting.tally_copies import read_copied_boards, renew_copies
from leaderboard.counting.vote_arrays import BoardVotes, empty_board, read_boards, read_star_board
from leaderboard.counting.vote_changes import exclude_votes
from leaderboard.counting.vote_log import PendingVotes
from leaderboard.models import COMPARE, OVERALL, AggregationRun, Position, VoteChange
from leaderboard.models.elo_settings import elo_settings

State = AggregationRun.State
REPEATED = Vote.ExcludedReason.DUPLICATE_PROMPT
OVER_CAP = Vote.ExcludedReason.OVER_DAILY_CAP

# Equal votes are grouped first: there are far fewer combinations of labels than votes.
_EXCLUDED = f"""
SELECT scope, excluded_reason, sum(n)::bigint FROM (
    SELECT excluded_reason, mode, origin, language, categories, count(*) AS n FROM battles_vote
    WHERE excluded_reason <> '' AND on_site_boards AND "order" <= %s GROUP BY 1, 2, 3, 4, 5
) AS vote CROSS JOIN {BOARDS_OF_VOTE} GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608 (constants)


def aggregate_if_due() -> AggregationRun | None:
    """Run the current slot or an early one; publish only boards that changed."""
    slot = schedule.slot_at(schedule.database_now())
    if AggregationRun.objects.filter(slot=slot).exists():
        slot = early_slot()
    if not slot or AggregationRun.objects.filter(slot=slot).exists():
        team_boards.publish_early()
        return None
    return aggregate(slot=slot, only_if_changed=True)


def aggregate(*, slot: str, only_if_changed: bool = False) -> AggregationRun | None:
    """Count and publish; return Overall's run, or None if the slot has a run or another run is active.

    only_if_changed: also skip Overall if unchanged. A board whose fit fails gets a failed run and does not stop the
    others. Other errors are recorded as a failed run of Overall and raised again.
    """
    with tracing.span(SpanName.AGGREGATE):
        return _aggregate(slot, only_if_changed=only_if_changed)


def _aggregate(slot: str, *, only_if_changed: bool) -> AggregationRun | None:
    started_at = schedule.database_now()
    keep_freed_arrays()  # before the threads of the fits begin
    try:
        with transaction.atomic():
            if not tallies.try_lock() or AggregationRun.objects.filter(slot=slot).exists():
                return None
            configure_transaction()
            elo_settings.invalidate()  # they change under this lock only
            run = _publish(slot, started_at, only_if_changed=only_if_changed)
    except Exception as error:
        failed = new_run(slot, OVERALL, State.FAILED, started_at)
        failed.record_failure(error)
        AggregationRun.objects.bulk_create([failed], ignore_conflicts=True)
        raise
    team_boards.publish_changed(slot=slot)
    review_boards.publish_changed()
    return run


def _publish(slot: str, started_at: datetime, *, only_if_changed: bool) -> AggregationRun:
    newest = {run.scope: run for run in AggregationRun.objects.newest_of_each_board() if is_own_board(run.scope)}
    before = AggregationRun.objects.newest_position()
    pending_votes = PendingVotes.read()
    _update_labels_and_exclusions(pending_votes, newest.get(OVERALL), now=started_at)
    counting = _Counting(pending_votes)
    position = _log_position(pending_votes, before)
    last_star = _count_stars(newest.get(COMPARE))
    excluded = _votes_excluded(pending_votes)
    # A board whose last vote was excluded is in `newest` only.
    boards = {scope: empty_board(scope) for scope in (OVERALL, *newest)}
    boards |= counting.boards(last_star=last_star)
    votes_taken = pending_votes.of_site.count()
    revealed = RevealCutoff(position["last_order"], started_at)
    models = [model.pk for model in boards[OVERALL].models]
    live = LiveFigures(elo_ratings_after(revealed.last_order), median_first_token_ms(models, revealed))
    pending, unchanged = [], []
    for scope, board in boards.items():
        earlier = newest.get(scope)
        facts: RunFacts = {
            **(position if counts_votes(scope) else stars.position(board.counts.total, board.last_star)),
            "tallies_checksum": board.counts.checksum,
            "votes_counted": board.counts.total,
            "votes_excluded": excluded[scope],
        }
        facts["votes_taken"] = votes_taken if scope == OVERALL else votes_since(earlier, facts)
        if has_changed(facts, earlier, now=started_at) or (scope == OVERALL and not only_if_changed):
            run = new_run(slot, scope, State.DONE, started_at, **facts)
            overall_votes = boards[OVERALL].counts.total
            refit = RefitScope.due(board, earlier, now=started_at, overall_votes=overall_votes)
            pending.append(PendingBoard(board, run, earlier, refit))
        elif scope == OVERALL:
            unchanged.append(FittedBoard(new_run(slot, scope, State.UNCHANGED, started_at, **facts)))
    if any(board.board.scope == OVERALL and board.refit.voters for board in pending):
        counting.finish()  # reads the tallies by voter
    fitted = unchanged + list(fit_boards(pending, live, meanwhile=counting.finish))
    store(fitted)
    renew_copies(boards.values(), last_order=position["last_order"], last_change=position["last_change"])
    publish_outdated(slot=slot)
    return next(board.run for board in fitted if board.run.scope == OVERALL)


class _Counting:
    """Pending votes, counted while boards are fitted if copies of tallies allow it."""

    def __init__(self, pending: PendingVotes) -> None:
        self._pending = pending
        self._is_finished = False

    def boards(self, *, last_star: int) -> dict[str, BoardVotes]:
        copied = read_copied_boards(until=self._pending.until)
        if copied is None:
            self.finish()
            return read_boards(last_order=self._pending.until, last_star=last_star)
        return copied | read_star_board(last_star=last_star)

    def finish(self) -> None:
        if not self._is_finished:
            self._is_finished = True
            tallies.count_pending(self._pending)


def _count_stars(earlier: AggregationRun | None) -> int:
    last = stars.last_star()
    if last != (earlier.last_change if earlier else 0):
        stars.recount(last)
    return last


def _update_labels_and_exclusions(pending: PendingVotes, earlier: AggregationRun | None, *, now: datetime) -> None:
    relabel_pending(pending.votes)
    over_cap = daily_caps.votes_over_cap(**pending._asdict())
    exclude_votes(_unless_restored(over_cap, OVER_CAP), reason=OVER_CAP, because="beyond the daily cap")
    reviews.exclude_pending(pending)
    if is_thorough_fit_due(earlier, now=now, overall_votes=earlier.votes_counted if earlier else 0):
        exclude_votes(
            _unless_restored(excess_duplicates(), REPEATED), reason=REPEATED, because="its prompt was sent too often"
        )


def _unless_restored(votes: VoteQuerySet, reason: str) -> VoteQuerySet:
    """Omit votes that staff restored after this reason."""
    restored = VoteChange.objects.filter(kind=VoteChange.Kind.RESTORED, before__excluded_reason=reason)
    return votes.exclude(pk__in=restored.values("vote"))


def _log_position(pending: PendingVotes, before: Position) -> RunFacts:
    """Return the numbers of the last counted vote and of the last change of a vote."""
    changes = VoteChange.objects.filter(number__gt=before.last_change, vote__on_site_boards=False)
    return {
        "last_order": pending.until,
        "last_change": VoteChange.objects.aggregate(last=Max("number"))["last"] or 0,
        "skipped_orders": before.skipped_orders + pending.skipped,
        "skipped_changes": before.skipped_changes + changes.count(),
    }


def _votes_excluded(pending: PendingVotes) -> dict[str, dict[str, int]]:
    """Return {board: {reason: votes}}."""
    excluded: dict[str, dict[str, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_EXCLUDED, [pending.until])
        for scope, reason, n in cursor.fetchall():
            excluded[scope][reason] = n
    return excluded
