import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from django.db import transaction

from common.ids import new_public_id
from leaderboard.aggregation.fit_boards import new_run
from leaderboard.counting import method, schedule
from leaderboard.counting.columns import Column, outcome_column, read_columns
from leaderboard.counting.live_elo import new_replay
from leaderboard.counting.vote_arrays import STYLE_COLUMNS, contestant_ids, indices_of, style_features_of
from leaderboard.models import AggregationRun, Contestant, ImportedBoard, Standing
from leaderboard.models.imported import SCOPE
from leaderboard.notify import notify_new_snapshot
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.counts import count_votes
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling

logger = logging.getLogger(__name__)

_VOTE = {
    "order": Column('"order"', 8),
    "left": Column("left_id"),
    "right": Column("right_id"),
    "outcome": outcome_column("outcome"),
    "n": Column("n"),
    # 63 bits: among a million voters, two share a hash on one of 18 million boards.
    "voter": Column("CASE voter WHEN '' THEN -1 ELSE hashtextextended(voter, 0) & 9223372036854775807 END", 8),
    "has_style": Column("(style IS NOT NULL)::int"),
}


@dataclass(frozen=True)
class _BoardVotes:
    """contestants[i] belongs to ballots.counts.names[i].

    elo: {index of contestant: rating}; empty for a table of counts.
    """

    contestants: list[Contestant]
    ballots: Ballots
    elo: dict[int, float]
    last_order: int
    has_style: bool


def publish_outdated(*, slot: str) -> list[AggregationRun]:
    """Publish boards of other parameters; a failed fit gets a failed run for `slot`."""
    newest = AggregationRun.objects.newest_of_each_board().filter(scope__startswith=SCOPE)
    outdated = [run.scope.removeprefix(SCOPE) for run in newest if run.parameters_hash != method.parameters_hash()]
    boards = ImportedBoard.objects.filter(slug__in=outdated).order_by("slug")
    return [_publish_or_record_failure(board, slot) for board in boards]


def _publish_or_record_failure(board: ImportedBoard, slot: str) -> AggregationRun:
    started_at = schedule.database_now()
    try:
        return publish(board)  # in a savepoint
    except Exception as error:
        logger.exception("board %s cannot be fitted", board.scope)
        run = new_run(slot, board.scope, AggregationRun.State.FAILED, started_at, last_change=board.edition)
        run.record_failure(error)
        run.finish(schedule.database_now())
        run.save(force_insert=True)
        return run


@transaction.atomic
def publish(board: ImportedBoard) -> AggregationRun:
    started_at = schedule.database_now()
    table = _read_votes(board)
    counts, parameters = table.ballots.counts, method.parameters()
    style = StyleInput(table.ballots, _frozen_scaling(board)) if table.has_style else None
    fit = fit_snapshot(
        counts,
        parameters,
        voters=table.ballots.voter_votes,
        style=style,
        ballots=table.ballots,
        with_flip=True,
        with_agreement=True,
    )
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
        facts={**fit.facts, **_thorough_facts(public_id, fit)},
    )
    run.method = method.WITH_SIDES if fit.corrects_side_bias else method.NAME
    run.finish(schedule.database_now())
    run.save(force_insert=True)
    Standing.objects.bulk_create(
        Standing(run=run, contestant=contestant, elo=table.elo.get(index), **line)
        for index, (contestant, line) in enumerate(zip(table.contestants, fit.lines, strict=True))
    )
    transaction.on_commit(partial(notify_new_snapshot, board.scope))
    return run


def _read_votes(board: ImportedBoard) -> _BoardVotes:
    rows = read_columns(
        {**_VOTE, **STYLE_COLUMNS},
        "FROM leaderboard_importedvote WHERE board_id = %(board)s AND edition = %(edition)s",
        {"board": board.pk, "edition": board.edition},
        numbered_by='"order"',
    )
    by_number = np.argsort(rows["order"], kind="stable")
    rows = {name: column[by_number] for name, column in rows.items()}
    contestants = sorted(Contestant.objects.filter(pk__in=contestant_ids(rows)), key=lambda contestant: contestant.name)
    names = [contestant.name for contestant in contestants]
    left, right = (indices_of(rows[side], contestants) for side in ("left", "right"))
    n = rows["n"].astype(np.int64)
    ballots = Ballots(
        counts=count_votes(names, left, right, rows["outcome"], n),
        left=left,
        right=right,
        outcome=rows["outcome"].astype(np.int64),
        n=n,
        voter=rows["voter"].astype(np.int64),
        features=style_features_of(rows),
    )
    replay = new_replay()
    if (n == 1).all():
        replay.add(rows["order"], left, right, rows["outcome"])
    return _BoardVotes(
        contestants, ballots, replay.rating, int(rows["order"].max(initial=0)), bool(rows["has_style"].any())
    )


def _thorough_facts(public_id: str, fit: SnapshotFit) -> dict[str, Any]:
    """Return the facts of a snapshot that copies nothing."""
    return {
        "design_effects_of": public_id,
        "thorough": True,
        **{f"{name}_of": public_id for name in ("style", "forecast", "agreement") if name in fit.facts},
    }


def _frozen_scaling(board: ImportedBoard) -> Scaling | None:
    """Return the scaling of all snapshots under this method, None before the first."""
    same_method = AggregationRun.objects.snapshots(board.scope).filter(method__in=[method.NAME, method.WITH_SIDES])
    earlier = same_method.filter(facts__has_key="style").first()
    if earlier is None:
        return None
    scaling = earlier.facts["style"]["scaling"]
    return Scaling(np.array(scaling["mean"]), np.array(scaling["sd"]))
