from leaderboard.boards.queries import board_payload, method_payload
from leaderboard.boards.standings import sort_results
from leaderboard.counting import stars
from leaderboard.counting.board_keys import counts_votes
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import COMPARE, AggregationRun, VoteChange
from leaderboard.payload_types import SnapshotHeadPayload, SnapshotPayload


def read_snapshot(public_id: str) -> SnapshotPayload:
    """Return a snapshot as published, with its inputs. Raises NoSuchSnapshot."""
    run = AggregationRun.objects.filter(public_id=public_id, state=AggregationRun.State.DONE).first()
    if run is None:
        raise NoSuchSnapshot
    board = board_payload(run.scope, run)
    return {
        **snapshot_head_payload(run),
        **board,
        "votes_renamed_since": _renamed_since(run),
        "results": sort_results(board["results"]),
    }


def _renamed_since(run: AggregationRun) -> int:
    """Return how many votes changed their voter since: clustered intervals cannot be recomputed then."""
    if run.scope == COMPARE:
        return stars.count_renamed_since(run)
    return VoteChange.objects.renamed_since(run).count() if counts_votes(run.scope) else 0


def snapshot_head_payload(run: AggregationRun) -> SnapshotHeadPayload:
    return {
        "id": run.public_id,
        "board": run.scope,
        "computed_at": run.finished_at,
        "method": method_payload(run),
        "tallies_checksum": run.tallies_checksum,
        "last_order": run.last_order,
        "last_change": run.last_change,
        "votes_taken": run.votes_taken,
        "votes_counted": run.votes_counted,
        "votes_excluded": run.votes_excluded,
        "duration_ms": run.duration_ms,
    }
