"""Reading what was published: every snapshot as it was, and what it was made of."""

from leaderboard.boards.queries import board_object, describe_method
from leaderboard.boards.standings import in_order
from leaderboard.counting import stars
from leaderboard.counting.board_keys import counts_votes
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import COMPARE, AggregationRun, VoteChange
from leaderboard.payload_types import SnapshotHeadPayload, SnapshotPayload


def read_snapshot(public_id: str) -> SnapshotPayload:
    """One snapshot as it was published, and what it was made of. Raises NoSuchSnapshot."""
    run = AggregationRun.objects.filter(public_id=public_id, state=AggregationRun.State.DONE).first()
    if run is None:
        raise NoSuchSnapshot
    board = board_object(run.scope, run)
    return {
        **describe_run(run),
        **board,
        "votes_renamed_since": _renamed_since(run),
        "results": in_order(board["results"]),
    }


def _renamed_since(run: AggregationRun) -> int:
    """Intervals allow for voters' tastes, and can be checked as far as voters are still those of that time."""
    if run.scope == COMPARE:
        return stars.count_renamed_since(run)
    return VoteChange.objects.renamed_since(run).count() if counts_votes(run.scope) else 0


def describe_run(run: AggregationRun) -> SnapshotHeadPayload:
    """A line in the list of snapshots."""
    return {
        "id": run.public_id,
        "board": run.scope,
        "computed_at": run.finished_at,
        "method": describe_method(run),
        "tallies_checksum": run.tallies_checksum,
        "last_order": run.last_order,
        "last_change": run.last_change,
        "votes_taken": run.votes_taken,
        "votes_counted": run.votes_counted,
        "votes_excluded": run.votes_excluded,
        "duration_ms": run.duration_ms,
    }
