import logging

from django.db import transaction
from django.db.models import Count, Max

from accounts.models import Team
from battles.models import Vote
from leaderboard.aggregation.fit_boards import LiveFigures, PendingBoard, RefitScope, fit_boards, new_run
from leaderboard.aggregation.publishing import configure_transaction, has_changed, store
from leaderboard.aggregation.team_boards import facts_of_board
from leaderboard.counting import schedule, tallies
from leaderboard.counting.board_keys import Board
from leaderboard.counting.vote_arrays import read_board
from leaderboard.models import AggregationRun, VoteChange

logger = logging.getLogger(__name__)


def publish_changed() -> None:
    """Publish boards of reviews that are published already and whose votes were changed; an error is logged."""
    # A worker may have died between the last run and this.
    since = AggregationRun.objects.newest_position(skipped=2)
    changes = VoteChange.objects.filter(number__gt=since.last_change).exclude(vote__series="")
    for series in sorted(set(changes.values_list("vote__series", flat=True))):
        try:
            earlier = AggregationRun.objects.of_review(series).select_related("team").first()
            if earlier is not None:
                publish_series(series, team=earlier.team)
        except Exception:
            logger.exception("the board of review %s cannot be published", series)


@transaction.atomic
def publish_series(series: str, *, team: Team | None = None) -> AggregationRun | None:
    """Publish a review's board from the log of votes unless nothing has changed; return its newest snapshot.

    team: of its models; its names are in the facts. Returns None before the first counted vote.
    """
    tallies.lock()  # changes of votes are numbered under it
    configure_transaction()
    started_at = schedule.database_now()
    board, earlier = Board.of_review(series), AggregationRun.objects.of_review(series).first()
    votes = read_board(board.scope)
    excluded = Vote.objects.filter(series=series, order__lte=votes.last_order).exclude(excluded_reason="")
    by_reason = excluded.order_by("excluded_reason").values_list("excluded_reason").annotate(n=Count("pk"))
    changes = VoteChange.objects.filter(vote__series=series).values_list("number", flat=True)
    last_change = VoteChange.objects.aggregate(last=Max("number"))["last"] or 0
    facts = facts_of_board(board, votes, dict(by_reason), earlier, votes.last_order, last_change, list(changes))
    if not has_changed(facts, earlier, now=started_at):
        return earlier
    run = new_run(schedule.new_slot(), board.scope, AggregationRun.State.DONE, started_at, **facts)
    run.team = team
    pending = PendingBoard(votes, run, earlier, RefitScope(voters=True, style=True))
    store(list(fit_boards([pending], LiveFigures({}, {}))))
    return run if run.state == AggregationRun.State.DONE else earlier
