"""Computing an imported board from its votes, and publishing what came of it."""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from django.db import DatabaseError, transaction

from common.ids import new_public_id
from leaderboard.aggregation.fit_boards import new_run
from leaderboard.counting import method, schedule
from leaderboard.counting.columns import Column, outcome_column, read_columns
from leaderboard.counting.vote_columns import STYLE_COLUMNS, contestant_ids, indices_of, style_features_of
from leaderboard.models import AggregationRun, Contestant, ImportedBoard, Standing
from leaderboard.models.imported import SCOPE
from leaderboard.notify import announce_snapshot
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.counts import counted
from leaderboard.rating.elo_replay import Replay
from leaderboard.rating.snapshot_fit import SnapshotFit, Styled, fit_snapshot
from leaderboard.rating.style_control import Scaling

logger = logging.getLogger(__name__)

_VOTE = {
    "order": Column('"order"', 8),
    "left": Column("left_id"),
    "right": Column("right_id"),
    "outcome": outcome_column("outcome"),
    "n": Column("n"),
    # Two of a million voters would share 63 bits once in 18 million boards.
    "voter": Column("CASE voter WHEN '' THEN -1 ELSE hashtextextended(voter, 0) & 9223372036854775807 END", 8),
    "is_dressed": Column("(style IS NOT NULL)::int"),
}


@dataclass(frozen=True)
class _Table:
    """contestants[i] is who ballots.counts.names[i] is. `elo` is by place, and empty for a table of counts."""

    contestants: list[Contestant]
    ballots: Ballots
    elo: dict[int, float]
    last_order: int
    has_style: bool


def publish_outdated(*, slot: str) -> list[AggregationRun]:
    """Publish the boards again whose newest snapshot has other parameters or another method; return their runs.

    A board that cannot be fitted has a failed run for `slot`, keeps its snapshot, and does not stop the others.
    """
    newest = AggregationRun.objects.newest_of_each_board().filter(scope__startswith=SCOPE)
    outdated = [run.scope.removeprefix(SCOPE) for run in newest if run.parameters_hash != method.parameters_hash()]
    boards = ImportedBoard.objects.filter(slug__in=outdated).order_by("slug")
    return [_publish_or_record_failure(board, slot) for board in boards]


def _publish_or_record_failure(board: ImportedBoard, slot: str) -> AggregationRun:
    started_at = schedule.database_now()
    try:
        return publish(board)
    except DatabaseError:
        raise
    except Exception as error:
        logger.exception("board %s cannot be fitted", board.scope)
        run = new_run(slot, board.scope, AggregationRun.State.FAILED, started_at, last_change=board.edition)
        run.record_failure(error)
        run.finish(schedule.database_now())
        run.save(force_insert=True)
        return run


@transaction.atomic
def publish(board: ImportedBoard) -> AggregationRun:
    """A snapshot of the board's present edition."""
    started_at = schedule.database_now()
    table = _read(board)
    counts, parameters = table.ballots.counts, method.parameters()
    styled = Styled(table.ballots, _frozen_scaling(board)) if table.has_style else None
    fit = fit_snapshot(counts, parameters, voters=table.ballots.of_voters, styled=styled, with_flip=True)
    public_id = new_public_id()
    run = new_run(
        f"imported: {public_id}",
        board.scope,
        AggregationRun.State.DONE,
        started_at,
        public_id=public_id,
        tallies_checksum=counts.checksum,
        last_order=table.last_order,
        last_change=board.edition,
        votes_taken=counts.total,
        votes_counted=counts.total,
        facts={**fit.facts, **_looked_at_afresh(public_id, fit)},
    )
    run.method = method.WITH_SIDES if fit.corrects_side_bias else method.NAME
    run.finish(schedule.database_now())
    run.save(force_insert=True)
    Standing.objects.bulk_create(
        Standing(run=run, contestant=contestant, elo=table.elo.get(place), **line)
        for place, (contestant, line) in enumerate(zip(table.contestants, fit.lines, strict=True))
    )
    transaction.on_commit(partial(announce_snapshot, board.scope))
    return run


def _read(board: ImportedBoard) -> _Table:
    rows = read_columns(
        {**_VOTE, **STYLE_COLUMNS},
        "FROM leaderboard_importedvote WHERE board_id = %(board)s AND edition = %(edition)s",
        {"board": board.pk, "edition": board.edition},
        numbered_by='"order"',
    )
    contestants = sorted(Contestant.objects.filter(pk__in=contestant_ids(rows)), key=lambda contestant: contestant.name)
    names = [contestant.name for contestant in contestants]
    left, right = (indices_of(rows[side], contestants) for side in ("left", "right"))
    n = rows["n"].astype(np.int64)
    ballots = Ballots(
        counts=counted(names, left, right, rows["outcome"], n),
        left=left,
        right=right,
        outcome=rows["outcome"].astype(np.int64),
        n=n,
        voter=rows["voter"].astype(np.int64),
        features=style_features_of(rows),
    )
    replay = Replay()
    if (n == 1).all():
        replay.add(rows["order"], left, right, rows["outcome"])
    return _Table(
        contestants, ballots, replay.rating, int(rows["order"].max(initial=0)), bool(rows["is_dressed"].any())
    )


def _looked_at_afresh(public_id: str, fit: SnapshotFit) -> dict[str, Any]:
    """In the words of leaderboard.aggregation.fit_boards: this snapshot took nothing over from another."""
    return {
        "design_effects_of": public_id,
        "thorough": True,
        **({"style_of": public_id} if "style" in fit.facts else {}),
    }


def _frozen_scaling(board: ImportedBoard) -> Scaling | None:
    """The board's first under this method; None while there is none."""
    of_this_method = AggregationRun.objects.snapshots(board.scope).filter(method__in=[method.NAME, method.WITH_SIDES])
    before = of_this_method.filter(facts__has_key="style").first()
    if before is None:
        return None
    scaling = before.facts["style"]["scaling"]
    return Scaling(np.array(scaling["mean"]), np.array(scaling["sd"]))
