"""Fit boards from their counted votes, and reuse slow parts of an earlier snapshot.

A large arena computes slow parts (RefitScope) once a day, Overall's clusters also after a change of its votes by
CLUSTERED_AFTER_CHANGE; later snapshots copy them and name their source in the facts.
"""

import json
import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, Self, TypedDict, Unpack, cast

import numpy as np
from django.db import transaction

from common.payload_types import JsonObject
from leaderboard.aggregation import sampling_plan
from leaderboard.aggregation.pair_weights import Plan
from leaderboard.counting import method, stars
from leaderboard.counting.board_keys import Board, counts_drawn_pairs, counts_votes
from leaderboard.counting.vote_arrays import BoardVotes, read_ballots, read_voters
from leaderboard.models import COMPARE, OVERALL, AggregationRun, Standing
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.snapshot_facts import FitLine, StyleColumns
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling

logger = logging.getLogger(__name__)

MAX_PARALLEL_FITS = 2
# Pairs of models of boards that are fitted or wait for it.
MAX_CELLS_AHEAD = 5_000_000
# Votes on Overall below which every snapshot computes the slow parts, and from which only the nightly one reads voters.
THOROUGH_BELOW_VOTES = 100_000
CLUSTERED_BELOW_VOTES = 2_000_000
# Share of Overall's votes that must be new before errors are clustered again.
CLUSTERED_AFTER_CHANGE = 0.02
# The same of a board of a team, whose slow parts are computed once a day otherwise.
REFITTED_AFTER_CHANGE = 0.2
MINUTES_OF_DAY = 1440
# A number without a common divisor with MINUTES_OF_DAY, near 0.618 of it: minutes of teams with successive ids are
# then spread over the day, however many teams there are.
MINUTES_BETWEEN_TEAMS = 889
_STYLE_COLUMNS = tuple(StyleColumns.__annotations__)


class EarlierStanding(NamedTuple):
    design_effect: float
    both_bad_design_effect: float | None
    style: StyleColumns


# Standings by model id.
EarlierStandings = dict[int, EarlierStanding]


class RunFacts(TypedDict, total=False):
    tallies_checksum: str
    votes_counted: int
    votes_excluded: dict[str, int]
    votes_taken: int
    last_order: int
    last_change: int
    skipped_orders: int
    skipped_changes: int
    public_id: str
    facts: JsonObject


@dataclass(frozen=True)
class RefitScope:
    """Slow parts that a snapshot computes itself."""

    voters: bool
    style: bool

    @classmethod
    def due(
        cls, board: BoardVotes, earlier: AggregationRun | None, *, now: datetime, overall_votes: int
    ) -> "RefitScope":
        is_of_stars = Board.parse(board.scope).name == COMPARE
        thorough = is_of_stars or is_thorough_fit_due(earlier, now=now, overall_votes=overall_votes)
        is_clustered = board.scope == OVERALL and overall_votes < CLUSTERED_BELOW_VOTES
        return cls(voters=thorough or (is_clustered and _votes_have_changed(earlier, overall_votes)), style=thorough)

    @classmethod
    def due_in_team(cls, board: BoardVotes, earlier: AggregationRun | None, *, now: datetime) -> "RefitScope":
        is_outdated = earlier is None or _is_thorough_fit_outdated(earlier, now=now)
        thorough = is_outdated or _votes_have_changed(earlier, board.counts.total, share=REFITTED_AFTER_CHANGE)
        return cls(voters=thorough, style=thorough)


def _votes_have_changed(earlier: AggregationRun | None, votes: int, *, share: float = CLUSTERED_AFTER_CHANGE) -> bool:
    """Return whether voters are to be read anew after many changes."""
    before = earlier.facts.get("design_effects_votes", 0) if earlier else 0
    return bool(abs(votes - before) >= share * before)


def is_thorough_fit_due(earlier: AggregationRun | None, *, now: datetime, overall_votes: int) -> bool:
    is_large = overall_votes >= THOROUGH_BELOW_VOTES
    return not is_large or earlier is None or _is_thorough_fit_outdated(earlier, now=now)


class StandingRow(FitLine):
    model_id: int
    elo: float | None
    median_first_token_ms: int | None


@dataclass(frozen=True)
class FittedBoard:
    """Unsaved run with its standings; for Overall with the sampling plan."""

    run: AggregationRun
    # Rows, because thousands of instances would take a tenth of a run's time.
    standings: list[StandingRow] = field(default_factory=list)
    plan: Plan | None = None


def has_stale_parts(earlier: AggregationRun, *, now: datetime) -> bool:
    """Return whether a new snapshot would recompute copied parts."""
    return earlier.facts.get("thorough") is False and _is_thorough_fit_outdated(earlier, now=now)


def _is_thorough_fit_outdated(earlier: AggregationRun, *, now: datetime) -> bool:
    at = earlier.facts.get("thorough_at")
    return not at or datetime.fromisoformat(at) < last_refit_time(earlier.team_id, now=now)


def last_refit_time(team: int | None, *, now: datetime) -> datetime:
    """Return since when the slow parts are due: midnight, or the newest of the team's own minute of each day.

    Teams have minutes of their own because the first run of a day would otherwise compute the slow parts of all.
    """
    minute = timedelta(minutes=(team or 0) * MINUTES_BETWEEN_TEAMS % MINUTES_OF_DAY)
    since_then = now - minute
    return since_then.replace(hour=0, minute=0, second=0, microsecond=0) + minute


@dataclass(frozen=True)
class PendingBoard:
    board: BoardVotes
    run: AggregationRun
    earlier: AggregationRun | None
    refit: RefitScope
    live: "LiveFigures | None" = None  # of its team
    before: EarlierStandings | None = None  # read when it is fitted, unless they are given


def new_run(slot: str, scope: str, state: str, started_at: datetime, **facts: Unpack[RunFacts]) -> AggregationRun:
    """Return an unsaved run; AggregationRun.finish sets its duration."""
    return AggregationRun(
        slot=slot,
        scope=scope,
        team_id=Board.parse(scope).team,
        state=state,
        method=method.NAME,
        parameters=method.parameters(),
        parameters_hash=method.parameters_hash(),
        started_at=started_at,
        finished_at=started_at,
        duration_ms=0,
        **facts,
    )


def fit_boards(
    pending: Iterable[PendingBoard], live: "LiveFigures", *, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[FittedBoard]:
    """Yield the boards fitted, in the same order. meanwhile: called once while they are fitted.

    Reads ahead by one board with single votes, or by MAX_CELLS_AHEAD, which bounds the memory. A board that raises gets
    a failed run and keeps its newest snapshot; its queries are in savepoints.
    """
    with ThreadPoolExecutor(MAX_PARALLEL_FITS) as threads:
        submitted: deque[tuple[FitInputs, Future[SnapshotFit]]] = deque()
        for board in pending:
            submitted.append(_read_and_submit(board, threads))
            while len(submitted) > MAX_PARALLEL_FITS and _are_large([inputs for inputs, _ in submitted]):
                yield _fitted_or_failed(*submitted.popleft(), live)
        meanwhile()
        while submitted:
            yield _fitted_or_failed(*submitted.popleft(), live)


def _are_large(ahead: list["FitInputs"]) -> bool:
    has_votes = any(inputs.voters or inputs.ballots for inputs in ahead)
    return has_votes or sum(len(inputs.pending.board.models) ** 2 for inputs in ahead) > MAX_CELLS_AHEAD


def _read_and_submit(board: PendingBoard, threads: ThreadPoolExecutor) -> tuple["FitInputs", "Future[SnapshotFit]"]:
    try:
        with _savepoint(is_needed=board.refit.style or board.refit.voters or board.before is None):
            inputs = FitInputs.read(board)
    except Exception as error:
        failed: Future[SnapshotFit] = Future()
        failed.set_exception(error)
        return FitInputs(board, {}, None, None), failed
    return inputs, threads.submit(inputs.fit)


def _fitted_or_failed(inputs: "FitInputs", future: "Future[SnapshotFit]", live: "LiveFigures") -> FittedBoard:
    try:
        scope = inputs.pending.run.scope
        with _savepoint(is_needed=scope == OVERALL or Board.parse(scope).name == COMPARE):
            return inputs.fitted_board(future.result(), inputs.pending.live or live)
    except Exception as error:
        run = inputs.pending.run
        logger.exception("board %s cannot be fitted", run.scope)
        run.facts = {}
        run.record_failure(error)
        return FittedBoard(run)


def _savepoint(*, is_needed: bool) -> AbstractContextManager[object]:
    """Return a savepoint if queries follow: without any, those of fifty small boards take as long as the fits."""
    return transaction.atomic() if is_needed else nullcontext()


@dataclass(frozen=True)
class FitInputs:
    pending: PendingBoard
    before: EarlierStandings
    voters: VoterVotes | None
    ballots: Ballots | None

    @classmethod
    def read(cls, pending: PendingBoard) -> Self:
        ballots = read_ballots(pending.board) if pending.refit.style else None
        voters = None if not pending.refit.voters else ballots.voter_votes if ballots else read_voters(pending.board)
        before = pending.before
        if before is None:
            before = read_earlier_standings([pending.earlier])[pending.earlier.pk] if pending.earlier else {}
        return cls(pending, before, voters, ballots)

    def fit(self) -> SnapshotFit:
        """Fit without database queries: a worker thread would open a connection of its own."""
        board, earlier = self.pending.board, self.pending.earlier
        return fit_snapshot(
            board.counts,
            method.parameters(),
            voters=self.voters,
            design_effects=None if self.voters or not earlier else _earlier_design_effects(board, earlier, self.before),
            style=StyleInput(self.ballots, _frozen_scaling(earlier)) if self.ballots else None,
            # Comparisons of stars share numbers, so their order is not fixed.
            ballots=self.ballots if counts_votes(board.scope) else None,
            with_flip=self.pending.refit.style or board.scope == OVERALL,
            with_agreement=self.pending.refit.style,
            with_taste=board.scope == OVERALL,
        )

    def fitted_board(self, fit: SnapshotFit, live: "LiveFigures") -> FittedBoard:
        board, run = self.pending.board, self.pending.run
        run.method = method.WITH_SIDES if fit.corrects_side_bias else method.NAME
        run.facts = _facts(run, fit, self.pending.earlier, self.pending.refit)
        place = Board.parse(board.scope)
        if place.team is not None or place.series:
            run.facts["voters"] = self._number_of_voters()
        if place.name == COMPARE:
            run.facts["stars"] = stars.mean_stars_by_model(board.last_star, place.team)
        plan = None
        if board.scope == OVERALL:
            plan = sampling_plan.new_plan(board.models, fit.board, board.counts.meetings)
            run.facts["sampling_shares"] = sampling_plan.sampling_shares(plan)
        json.dumps(run.facts, allow_nan=False)  # raises for NaN and ∞, which PostgreSQL would refuse with all boards
        standings = [_standing(run, index, board, fit, self.before, live) for index in range(len(board.models))]
        return FittedBoard(run, standings, plan)

    def _number_of_voters(self) -> int:
        if self.voters is not None:
            return len(np.unique(self.voters.voter))
        return int(self.pending.earlier.facts["voters"]) if self.pending.earlier else 0


def read_earlier_standings(runs: Iterable[AggregationRun]) -> dict[int, EarlierStandings]:
    """Return {run's id: standings}."""
    columns = ("run_id", "model_id", "design_effect", "both_bad_design_effect", *_STYLE_COLUMNS)
    before: dict[int, EarlierStandings] = defaultdict(dict)
    for run, model, effect, of_both_bad, *style in Standing.objects.filter(run__in=runs).values_list(*columns):
        columns_of_style = cast(StyleColumns, dict(zip(_STYLE_COLUMNS, style, strict=True)))
        before[run][model] = EarlierStanding(effect, of_both_bad, columns_of_style)
    return before


def _earlier_design_effects(board: BoardVotes, earlier: AggregationRun, before: EarlierStandings) -> DesignEffects:
    """A model without one gets the median."""
    known = {model: standing.design_effect for model, standing in before.items()}
    median = float(np.median(list(known.values()))) if known else 1.0
    of_side_bias = (earlier.facts.get("side_bias") or {}).get("design_effect", 1.0)
    return DesignEffects(np.array([known.get(model.pk, median) for model in board.models]), of_side_bias)


def _frozen_scaling(earlier: AggregationRun | None) -> Scaling | None:
    """None if the method has changed since."""
    style = earlier.facts.get("style") if earlier and earlier.method in (method.NAME, method.WITH_SIDES) else None
    return style and Scaling(np.array(style["scaling"]["mean"]), np.array(style["scaling"]["sd"]))


def _facts(run: AggregationRun, fit: SnapshotFit, earlier: AggregationRun | None, refit: RefitScope) -> JsonObject:
    """Return the fit's facts, and copied ones with their snapshots' ids."""
    old = earlier.facts if earlier else {}
    facts: JsonObject = {
        **fit.facts,
        "design_effects_of": run.public_id if refit.voters else old.get("design_effects_of"),
        "design_effects_votes": run.votes_counted if refit.voters else old.get("design_effects_votes"),
        "thorough": refit.style and refit.voters,
        "thorough_at": run.started_at.isoformat() if refit.style else old.get("thorough_at"),
    }
    if not refit.voters and "effective_voters" in old:
        facts["effective_voters"] = old["effective_voters"]
    own = {
        "style": refit.style,
        "context": refit.style,
        "forecast": refit.style,
        "agreement": refit.style,
        "taste": refit.voters,
        **{name: name in fit.facts for name in ("flips_first", "drops_first")},
    }
    for name, is_own in own.items():
        if is_own and name in facts:
            facts[f"{name}_of"] = run.public_id
        elif not is_own and name in old:
            facts |= {name: old[name], f"{name}_of": old[f"{name}_of"]}
    return facts


@dataclass(frozen=True)
class LiveFigures:
    elo: dict[int, float]
    first_token_ms: dict[int, int]


def _standing(
    run: AggregationRun,
    index: int,
    board: BoardVotes,
    fit: SnapshotFit,
    before: EarlierStandings,
    live: LiveFigures,
) -> StandingRow:
    model = board.models[index]
    line = fit.lines[index]
    if line["both_bad_design_effect"] is None and model.pk in before:
        line = {**line, "both_bad_design_effect": before[model.pk].both_bad_design_effect}
    if run.facts.get("style_of", run.public_id) != run.public_id and model.pk in before:
        line = {**line, **before[model.pk].style}
    return {
        "model_id": model.pk,
        "elo": live.elo.get(model.pk, run.parameters["elo_start"]) if counts_drawn_pairs(run.scope) else None,
        "median_first_token_ms": live.first_token_ms.get(model.pk),
        **line,
    }
