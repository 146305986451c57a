"""Bringing the boards up to date: count what is pending, fit, publish snapshots.

A run is one transaction under one lock for all boards, and its rows are written last. So a crash anywhere leaves
nothing behind, a second worker finds the lock or the slot taken, and a run that was killed blocks nobody.
Overall has a row for every run; another board only where its run published something.
"""

from collections import defaultdict
from datetime import datetime
from functools import partial

from django.db import connection, transaction
from django.db.models import Max

from battles.labels import daily_caps
from battles.labels.duplicates import excess_duplicates
from battles.labels.relabel import relabel_pending
from battles.models import Vote, VoteQuerySet
from leaderboard.aggregation import sampling_plan
from leaderboard.aggregation.fit_boards import (
    Due,
    Effort,
    LiveFigures,
    Published,
    RunFacts,
    fit_boards,
    is_stale,
    is_to_be_thorough,
    new_run,
)
from leaderboard.aggregation.imported_boards import publish_outdated
from leaderboard.counting import method, reviews, schedule, stars, tallies
from leaderboard.counting.board_keys import BOARDS_OF_VOTE, is_of_the_arena, is_of_votes
from leaderboard.counting.latency import median_first_token_ms
from leaderboard.counting.live_elo import elo_after
from leaderboard.counting.revealed_calls import Revealed
from leaderboard.counting.vote_arrays import BoardVotes, read_boards, read_no_votes
from leaderboard.counting.vote_changes import set_aside
from leaderboard.models import COMPARE, OVERALL, AggregationRun, Standing, VoteChange
from leaderboard.notify import announce_snapshot

State = AggregationRun.State
REPEATED = Vote.ExcludedReason.DUPLICATE_PROMPT
OVER_CAP = Vote.ExcludedReason.OVER_DAILY_CAP

_EXCLUDED = f"""
SELECT scope, excluded_reason, count(*) FROM battles_vote AS vote CROSS JOIN {BOARDS_OF_VOTE}
WHERE excluded_reason <> '' AND processing <> 'pending' GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608 (constants)


def aggregate_if_due() -> AggregationRun | None:
    """The run of the current slot, unless it has had one. It publishes only when something changed."""
    slot = schedule.slot_at(schedule.database_now())
    if AggregationRun.objects.filter(slot=slot).exists():
        return None
    return aggregate(slot=slot, only_if_changed=True)


def aggregate(*, slot: str, only_if_changed: bool = False) -> AggregationRun | None:
    """Count the pending votes and publish; None when this slot has had its run or another one is under way.

    Returns Overall's run. Unless only_if_changed, Overall is published even without news; the others never are.
    A board whose fit fails has a failed run, keeps its newest snapshot, and does not stop the others. Any other error
    is recorded as a failed run of Overall and raised again.
    """
    started_at = schedule.database_now()
    try:
        with transaction.atomic():
            if not tallies.try_to_lock() or AggregationRun.objects.filter(slot=slot).exists():
                return None
            _make_room()
            return _publish(slot, started_at, only_if_changed=only_if_changed)
    except Exception as error:
        failed = new_run(slot, OVERALL, State.FAILED, started_at)
        failed.record_failure(error)
        AggregationRun.objects.bulk_create([failed], ignore_conflicts=True)
        raise


def _make_room() -> None:
    """Memory for sorting; and a worker that stands still in the middle loses its transaction, and with it the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '128MB'")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '120s'")


def _publish(slot: str, started_at: datetime, *, only_if_changed: bool) -> AggregationRun:
    newest = {run.scope: run for run in AggregationRun.objects.newest_of_each_board() if is_of_the_arena(run.scope)}
    _settle(newest.get(OVERALL), now=started_at)
    taken = tallies.count_pending()
    moment: RunFacts = {"last_order": _last_order(), "last_change": _last_change()}
    last_star = _count_stars(newest.get(COMPARE))
    excluded = _votes_excluded()
    # Also boards whose last vote was set aside.
    boards = {scope: read_no_votes(scope) for scope in (OVERALL, *newest)} | read_boards(last_star=last_star)
    live = _live_figures(boards[OVERALL], Revealed(moment["last_order"], started_at))
    due, unchanged = [], []
    for scope, board in boards.items():
        earlier = newest.get(scope)
        facts: RunFacts = {
            **(moment if is_of_votes(scope) else _moment_of_stars(board)),
            **_counted(board, excluded[scope]),
        }
        facts["votes_taken"] = taken if scope == OVERALL else _more_than_before(facts, earlier)
        if _is_news(facts, earlier, now=started_at) or (scope == OVERALL and not only_if_changed):
            run = new_run(slot, scope, State.DONE, started_at, **facts)
            effort = Effort.due(board, earlier, now=started_at, arena=boards[OVERALL].counts.total)
            due.append(Due(board, run, earlier, effort))
        elif scope == OVERALL:
            unchanged.append(Published(new_run(slot, scope, State.UNCHANGED, started_at, **facts)))
    published = unchanged + list(fit_boards(due, live))
    _store(published)
    publish_outdated(slot=slot)
    return next(one.run for one in published if one.run.scope == OVERALL)


def _count_stars(earlier: AggregationRun | None) -> int:
    """Bring the comparisons by stars up to date; returns the number up to which stars are in them."""
    last = stars.last_star()
    if last != (earlier.last_change if earlier else 0):
        stars.recount(last)
    return last


def _moment_of_stars(board: BoardVotes) -> RunFacts:
    """Comparisons are numbered among themselves; what they stood after is not a change, but the last star."""
    return {"last_order": board.counts.total, "last_change": board.last_star}


def _settle(earlier: AggregationRun | None, *, now: datetime) -> None:
    """Labels, and whose votes are set aside, are brought up to date before votes are counted."""
    relabel_pending()
    set_aside(_unless_restored(daily_caps.votes_over_cap(), OVER_CAP), reason=OVER_CAP, because="beyond the daily cap")
    reviews.hold_pending()
    if is_to_be_thorough(earlier, now=now, arena=earlier.votes_counted if earlier else 0):
        set_aside(
            _unless_restored(excess_duplicates(), REPEATED), reason=REPEATED, because="its prompt was sent too often"
        )


def _unless_restored(votes: VoteQuerySet, reason: str) -> VoteQuerySet:
    """Return the votes without those that had this reason and that staff counted again."""
    restored = VoteChange.objects.filter(kind=VoteChange.Kind.RESTORED, before__excluded_reason=reason)
    return votes.exclude(pk__in=restored.values("vote"))


def _store(published: list[Published]) -> None:
    finished_at = schedule.database_now()
    for one in published:
        one.run.finish(finished_at)
        one.run.save(force_insert=True)
        if one.plan is not None:
            sampling_plan.store(one.plan, one.run)
    _copy([standing for one in published for standing in one.standings])
    scopes = [one.run.scope for one in published if one.run.state == State.DONE]
    for scope in scopes:
        transaction.on_commit(partial(announce_snapshot, scope))


def _copy(standings: list[Standing]) -> None:
    """Thousands in every run: Django would prepare each of their values by itself."""
    fields = [field for field in Standing._meta.concrete_fields if not field.primary_key]
    table, columns = connection.ops.quote_name(Standing._meta.db_table), ", ".join(f'"{f.column}"' for f in fields)
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for standing in standings:
            standing.run_id = standing.run.pk  # it was stored a moment ago
            copy.write_row([getattr(standing, field.attname) for field in fields])


def _counted(board: BoardVotes, excluded: dict[str, int]) -> RunFacts:
    return {
        "tallies_checksum": board.counts.checksum,
        "votes_counted": board.counts.total,
        "votes_excluded": excluded,
    }


def _more_than_before(facts: RunFacts, earlier: AggregationRun | None) -> int:
    """Votes filed under this board since its last snapshot, counted or not."""
    before = earlier.votes_counted + sum(earlier.votes_excluded.values()) if earlier else 0
    now: int = facts["votes_counted"] + sum(facts["votes_excluded"].values())
    return max(0, now - before)


def _is_news(facts: RunFacts, earlier: AggregationRun | None, *, now: datetime) -> bool:
    if earlier is None:
        return bool(facts["votes_counted"])
    same = ["tallies_checksum", "votes_excluded"]
    if earlier.scope == COMPARE:
        same.append("last_change")  # the mean stars
    return (
        any(getattr(earlier, name) != facts.get(name) for name in same)
        or earlier.parameters_hash != method.parameters_hash()
        or is_stale(earlier, now=now)
    )


def _last_order() -> int:
    taken = Vote.objects.exclude(processing=Vote.Processing.PENDING)
    return taken.aggregate(last=Max("order"))["last"] or 0


def _last_change() -> int:
    return VoteChange.objects.aggregate(last=Max("number"))["last"] or 0


def _votes_excluded() -> dict[str, dict[str, int]]:
    """By board and reason."""
    excluded: dict[str, dict[str, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_EXCLUDED)
        for scope, reason, n in cursor.fetchall():
            excluded[scope][reason] = n
    return excluded


def _live_figures(overall: BoardVotes, revealed: Revealed) -> LiveFigures:
    """Of every model with a counted vote: Overall has them all. The Elo is the one after the last vote taken."""
    models = [model.pk for model in overall.models]
    return LiveFigures(elo_after(revealed.last_order), median_first_token_ms(models, revealed))
