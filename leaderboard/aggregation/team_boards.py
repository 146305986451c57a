"""Boards of teams: their tallies are recounted with each snapshot (docs/adr/0084)."""

import logging
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from django.db import connection, transaction
from django.db.models import Max

from accounts.models import Team
from battles.models import StarRating, Vote
from leaderboard.aggregation.fit_boards import (
    LiveFigures,
    PendingBoard,
    RefitScope,
    RunFacts,
    fit_boards,
    new_run,
    read_earlier_standings,
)
from leaderboard.aggregation.publishing import configure_transaction, has_changed, store, votes_since
from leaderboard.counting import new_votes, schedule, stars, tallies
from leaderboard.counting.board_keys import BOARDS_OF_TEAMS_VOTE, SCOPE_OF_TEAM, Board
from leaderboard.counting.boards_of_teams import boards_of_teams
from leaderboard.counting.live_elo import elo_of_teams
from leaderboard.counting.revealed_calls import RevealCutoff, median_first_token_ms_of_teams
from leaderboard.counting.vote_arrays import BoardVotes, empty_board, read_boards_of
from leaderboard.counting.vote_log import newest_order
from leaderboard.models import COMPARE, OVERALL, AggregationRun, PairTally, Position, TeamBoard, VoteChange

logger = logging.getLogger(__name__)

_VOTES = f"""
FROM battles_vote AS vote CROSS JOIN {BOARDS_OF_TEAMS_VOTE}
WHERE vote.team_id = ANY(%(teams)s) AND vote."order" <= %(last_order)s AND {SCOPE_OF_TEAM} = ANY(%(scopes)s)
"""
_RECOUNT = f"""
INSERT INTO leaderboard_pairtally (scope, left_id, right_id, outcome, n)
SELECT {SCOPE_OF_TEAM}, model_left_id, model_right_id, choice, count(*) {_VOTES} AND excluded_reason = ''
GROUP BY 1, 2, 3, 4
"""
_EXCLUDED = f"""
SELECT {SCOPE_OF_TEAM}, excluded_reason, count(*) {_VOTES} AND excluded_reason <> '' GROUP BY 1, 2 ORDER BY 1, 2
"""


def publish_changed(*, slot: str) -> None:
    """Publish boards of teams with news, after the site's run was committed; an error is logged."""
    try:
        with transaction.atomic():
            tallies.lock()
            configure_transaction()
            # News since the run before the last one, because a worker may have died between that run and its teams.
            since = AggregationRun.objects.newest_position(skipped=2)
            _publish(_teams_with_news(since) | _teams_with_new_stars(), slot)
    except Exception:
        logger.exception("the boards of teams cannot be published")


def _teams_with_news(since: Position) -> set[int]:
    cast = Vote.objects.outside_of_reviews().filter(team__isnull=False, order__gt=since.last_order)
    last = dict(cast.order_by("team").values_list("team").annotate(Max("order")))
    relabelled = VoteChange.objects.filter(number__gt=since.last_change, vote__team__isnull=False, vote__series="")
    runs = AggregationRun.objects.newest_of(Board(OVERALL, team).scope for team in last)
    counted = dict(runs.values_list("team", "last_order"))
    with_votes = {team for team, order in last.items() if order > counted.get(team, 0)}
    return with_votes | set(relabelled.values_list("vote__team", flat=True))


def _teams_with_new_stars() -> set[int]:
    on = TeamBoard.objects.filter(name=COMPARE).values_list("team", flat=True)
    last = dict(StarRating.objects.filter(team__in=on).values_list("team").annotate(Max("order")))
    runs = AggregationRun.objects.newest_of(Board(COMPARE, team).scope for team in last)
    counted = dict(runs.values_list("team", "last_change"))
    return {team for team, order in last.items() if order > counted.get(team, 0)}


@transaction.atomic
def publish(teams: Collection[int]) -> None:
    tallies.lock()
    _publish(teams, schedule.new_slot())


@transaction.atomic
def publish_early() -> None:
    due = new_votes.teams_due_early()
    if due and tallies.try_lock():
        _publish(due, schedule.new_slot())


def _publish(teams: Collection[int], slot: str) -> None:
    active = sorted(Team.objects.active().filter(pk__in=teams).values_list("pk", flat=True))
    if not active:
        return
    started_at = schedule.database_now()
    names = boards_of_teams(active)
    scopes = [board.scope for boards in names.values() for board in boards]
    earlier = {run.scope: run for run in AggregationRun.objects.newest_of(scopes)}
    last_order = newest_order()
    _recount(names, scopes, last_order)
    read = read_boards_of(scopes, last_order=last_order)
    excluded = _votes_excluded(active, scopes, last_order)
    last_change = VoteChange.objects.aggregate(last=Max("number"))["last"] or 0
    medians = median_first_token_ms_of_teams(active, RevealCutoff(last_order, started_at))
    elo, changes = elo_of_teams(active, last_order), _new_changes(active, list(earlier.values()), boards=len(scopes))
    standings = read_earlier_standings(earlier.values())
    pending = []
    for team, boards in names.items():
        live = LiveFigures(elo.get(team, {}), medians.get(team, {}))
        for board in boards:
            votes, before = read.get(board.scope, empty_board(board.scope)), earlier.get(board.scope)
            facts = facts_of_board(board, votes, excluded[board.scope], before, last_order, last_change, changes[team])
            if has_changed(facts, before, now=started_at):
                run = new_run(slot, board.scope, AggregationRun.State.DONE, started_at, **facts)
                refit = RefitScope.due_in_team(votes, before, now=started_at)
                votes = replace(votes, last_star=_last_star(board))
                pending.append(PendingBoard(votes, run, before, refit, live, standings[before.pk] if before else {}))
    store(list(fit_boards(pending, LiveFigures({}, {}))))


def _recount(boards: dict[int, list[Board]], scopes: list[str], last_order: int) -> None:
    PairTally.objects.filter(scope__in=scopes).delete()
    with connection.cursor() as cursor:
        cursor.execute(_RECOUNT, {"teams": list(boards), "scopes": scopes, "last_order": last_order})
    for board in (board for of_team in boards.values() for board in of_team if board.name == COMPARE):
        stars.recount(_last_star(board), board.team)


def _votes_excluded(teams: list[int], scopes: list[str], last_order: int) -> dict[str, dict[str, int]]:
    excluded: dict[str, dict[str, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_EXCLUDED, {"teams": teams, "scopes": scopes, "last_order": last_order})
        for scope, reason, n in cursor.fetchall():
            excluded[scope][reason] = n
    return excluded


def _new_changes(teams: list[int], runs: list[AggregationRun], *, boards: int) -> dict[int, list[int]]:
    """Return {team: numbers of changes of its votes}, at least those since its runs."""
    of_votes = [run.last_change for run in runs if Board.parse(run.scope).name != COMPARE]
    since = min(of_votes, default=0) if len(runs) == boards else 0  # a new board counts all changes
    changes: dict[int, list[int]] = defaultdict(list)
    new = VoteChange.objects.filter(vote__team__in=teams, vote__series="", number__gt=since)
    for team, number in new.values_list("vote__team", "number"):
        changes[team].append(number)
    return changes


def _last_star(board: Board) -> int:
    return stars.last_star(board.team) if board.name == COMPARE else 0


def facts_of_board(
    board: Board,
    votes: BoardVotes,
    excluded: dict[str, int],
    earlier: AggregationRun | None,
    last_order: int,
    last_change: int,
    changes: list[int],
) -> RunFacts:
    """excluded: votes by reason. changes: numbers of changes of its votes, at least those since the earlier run."""
    counted = votes.counts.total
    facts: RunFacts = {
        "tallies_checksum": votes.counts.checksum,
        "votes_counted": counted,
        "votes_excluded": excluded,
    }
    facts["votes_taken"] = votes_since(earlier, facts)
    if board.name == COMPARE:
        return {**facts, **stars.position(counted, _last_star(board), board.team)}
    since, before = (earlier.last_change, earlier.shown_change) if earlier else (0, 0)
    shown = before + sum(since < number <= last_change for number in changes)
    return {
        **facts,
        "last_order": last_order,
        "last_change": last_change,
        "skipped_orders": last_order - counted - sum(excluded.values()),
        "skipped_changes": last_change - shown,
    }
