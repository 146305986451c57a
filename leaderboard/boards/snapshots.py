from collections.abc import Mapping

from accounts.models import Team
from leaderboard.boards.queries import board_payload, method_payload
from leaderboard.boards.standings import sort_results
from leaderboard.counting import stars
from leaderboard.counting.board_keys import Board, counts_votes
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import COMPARE, AggregationRun, AggregationRunQuerySet, VoteChange
from leaderboard.payload_types import SnapshotHeadPayload, SnapshotPayload


def read_published(parameters: Mapping[str, str], team: Team | None) -> AggregationRunQuerySet:
    board, runs = Board.of(parameters.get("board", "").replace("\x00", ""), team), AggregationRun.objects
    return runs.snapshots(board.scope, board.team) if board.name else runs.published(team=board.team)


def read_snapshot(public_id: str, team: Team | None = None, series: str = "") -> SnapshotPayload:
    """Return a snapshot as published, with its inputs. Raises NoSuchSnapshot.

    series: of a review, whose snapshot is meant; the caller checks that its results may be read.
    """
    runs = AggregationRun.objects
    done = runs.of_review(series) if series else runs.published(team=None if team is None else team.pk)
    run = done.filter(public_id=public_id).first()
    if run is None:
        raise NoSuchSnapshot
    if not series:
        run.team = team
    board = board_payload(Board.parse(run.scope).name, run)
    return {
        **snapshot_head_payload(run),
        **board,
        "votes_renamed_since": _renamed_since(run),
        "results": sort_results(board["results"]),
    }


def _renamed_since(run: AggregationRun) -> int:
    """Return how many votes changed their voter since: clustered intervals cannot be recomputed then."""
    if Board.parse(run.scope).name == COMPARE:
        return stars.count_renamed_since(run)
    return VoteChange.objects.renamed_since(run).count() if counts_votes(run.scope) else 0


def snapshot_head_payload(run: AggregationRun) -> SnapshotHeadPayload:
    return {
        "id": run.public_id,
        "board": Board.parse(run.scope).name,
        "computed_at": run.finished_at,
        "method": method_payload(run),
        "tallies_checksum": run.tallies_checksum,
        "last_order": run.shown_order,
        "last_change": run.shown_change,
        "votes_taken": run.votes_taken,
        "votes_counted": run.votes_counted,
        "votes_excluded": run.votes_excluded,
        "duration_ms": run.duration_ms,
    }
