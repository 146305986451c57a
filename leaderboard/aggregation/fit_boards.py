"""From a board's counted votes to its snapshot: fitted, with what an earlier snapshot knows where that is enough.

The tallies are fitted every time. What takes longer is done every time while the arena is small, and then by the first
snapshot of a day: style control, voters' tastes on other boards than Overall (and there from MOST_VOTERS votes on), and
how many votes would change the first place on those. Snapshots between take it over from the last one that did it, and
name that one in their facts.
"""

import logging
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Self, TypedDict, Unpack, cast

import numpy as np
from django.db import DatabaseError

from common.payload_types import JsonObject
from leaderboard.aggregation import sampling_plan
from leaderboard.aggregation.pair_weights import Plan
from leaderboard.counting import method, stars
from leaderboard.counting.board_keys import is_blind
from leaderboard.counting.vote_arrays import BoardVotes, read_ballots, read_voters
from leaderboard.models import COMPARE, OVERALL, AggregationRun, Standing
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.bradley_terry import symmetrized
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.elo import START
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleColumns, StyleInput, fit_snapshot
from leaderboard.rating.style_control import Scaling

logger = logging.getLogger(__name__)

# Boards that are fitted at once, and one more is read.
AT_ONCE = 2
EVERY_VOTE_BELOW = 100_000
MOST_VOTERS = 2_000_000
_STYLE_COLUMNS = (
    "style_score", "style_ci_low", "style_ci_high", "style_rank", "style_rank_best", "style_rank_worst",
)  # fmt: skip


class EarlierLine(NamedTuple):
    """What a snapshot may take over from the line of an earlier one."""

    design_effect: float
    style: StyleColumns


# By the models' ids.
Lines = dict[int, EarlierLine]


class RunFacts(TypedDict, total=False):
    """Columns of a run that its caller knows."""

    tallies_checksum: str
    votes_counted: int
    votes_excluded: dict[str, int]
    votes_taken: int
    last_order: int
    last_change: int
    public_id: str
    facts: JsonObject


@dataclass(frozen=True)
class Effort:
    """Whether a snapshot looks at who cast each vote, and at each answer's style."""

    voters: bool
    style: bool

    @classmethod
    def due(cls, board: BoardVotes, earlier: AggregationRun | None, *, now: datetime, arena: int) -> "Effort":
        thorough = board.scope == COMPARE or is_to_be_thorough(earlier, now=now, arena=arena)
        return cls(voters=thorough or (board.scope == OVERALL and arena < MOST_VOTERS), style=thorough)


def is_to_be_thorough(earlier: AggregationRun | None, *, now: datetime, arena: int) -> bool:
    """Whether every single vote is looked at. `arena`: votes counted on Overall."""
    return arena < EVERY_VOTE_BELOW or earlier is None or _last_thorough(earlier) < f"{now:%Y-%m-%d}"


@dataclass(frozen=True)
class Published:
    """A run that is not stored yet, with what it publishes."""

    run: AggregationRun
    standings: list[Standing] = field(default_factory=list)
    plan: Plan | None = None


def is_stale(earlier: AggregationRun, *, now: datetime) -> bool:
    """Whether a snapshot took over what a new one would look at afresh, votes or no votes."""
    return earlier.facts.get("thorough") is False and _last_thorough(earlier) < f"{now:%Y-%m-%d}"


def _last_thorough(earlier: AggregationRun) -> str:
    return str(earlier.facts.get("thorough_at", ""))[:10]


@dataclass(frozen=True)
class Due:
    """A board whose counted votes are to be published, as a run that says what was counted."""

    board: BoardVotes
    run: AggregationRun
    earlier: AggregationRun | None
    effort: Effort


def new_run(slot: str, scope: str, state: str, started_at: datetime, **facts: Unpack[RunFacts]) -> AggregationRun:
    """Return a run of today's method that is not stored yet; AggregationRun.finish says when it was over."""
    return AggregationRun(
        slot=slot,
        scope=scope,
        state=state,
        method=method.NAME,
        parameters=method.parameters(),
        parameters_hash=method.parameters_hash(),
        started_at=started_at,
        finished_at=started_at,
        duration_ms=0,
        **facts,
    )


def fit_boards(due: Iterable[Due], live: "LiveFigures") -> Iterator[Published]:
    """Complete the runs with the fit of their votes, in the same order.

    The next boards are read while some are fitted in threads, no more at once than there are votes in memory for.
    A board whose fit raises gets a failed run, which names the error, and keeps its newest snapshot.
    """
    with ThreadPoolExecutor(AT_ONCE) as threads:
        begun: deque[tuple[_Reading, Future[SnapshotFit]]] = deque()
        for one in due:
            reading = _Reading.of(one)
            begun.append((reading, threads.submit(reading.fit)))
            if len(begun) > AT_ONCE:
                yield _published_or_failed(*begun.popleft(), live)
        for reading, fitting in begun:
            yield _published_or_failed(reading, fitting, live)


def _published_or_failed(reading: "_Reading", fitting: "Future[SnapshotFit]", live: "LiveFigures") -> Published:
    try:
        return reading.published(fitting.result(), live)
    except DatabaseError:  # concerns the transaction of all boards
        raise
    except Exception as error:
        run = reading.due.run
        logger.exception("board %s cannot be fitted", run.scope)
        run.record_failure(error)
        return Published(run)


@dataclass(frozen=True)
class _Reading:
    """All that a fit takes. before: the lines of the earlier snapshot, by the models' ids."""

    due: Due
    before: Lines
    voters: VoterVotes | None
    ballots: Ballots | None

    @classmethod
    def of(cls, due: Due) -> Self:
        ballots = read_ballots(due.board) if due.effort.style else None
        voters = None if not due.effort.voters else ballots.voter_votes if ballots else read_voters(due.board)
        return cls(due, _lines_of(due.earlier) if due.earlier else {}, voters, ballots)

    def fit(self) -> SnapshotFit:
        """Asks no database: it has the threads' time, and not their connections."""
        board, earlier = self.due.board, self.due.earlier
        return fit_snapshot(
            board.counts,
            method.parameters(),
            voters=self.voters,
            design_effects=None if self.voters or not earlier else _tastes(board, earlier, self.before),
            style=StyleInput(self.ballots, _frozen_scaling(earlier)) if self.ballots else None,
            with_flip=self.due.effort.style or board.scope == OVERALL,
        )

    def published(self, fit: SnapshotFit, live: "LiveFigures") -> Published:
        board, run = self.due.board, self.due.run
        run.method = method.WITH_SIDES if fit.corrects_side_bias else method.NAME
        run.facts = _facts(run, fit, self.due.earlier, self.due.effort)
        if board.scope == COMPARE:
            run.facts["stars"] = stars.means(board.last_star)
        plan = None
        if board.scope == OVERALL:
            plan = sampling_plan.new_plan(board.models, fit.board, symmetrized(board.counts.n.sum(axis=0)))
            run.facts["sampling_shares"] = sampling_plan.sampling_shares(plan)
        standings = [_standing(run, place, board, fit, self.before, live) for place in range(len(board.models))]
        return Published(run, standings, plan)


def _lines_of(earlier: AggregationRun) -> Lines:
    """What a snapshot may take over from an earlier one, by the models' ids."""
    lines = earlier.standings.values("model_id", "design_effect", *_STYLE_COLUMNS)
    return {line.pop("model_id"): EarlierLine(line.pop("design_effect"), cast(StyleColumns, line)) for line in lines}


def _tastes(board: BoardVotes, earlier: AggregationRun, before: Lines) -> DesignEffects:
    """Of a model that has none yet: the median."""
    known = {model: line.design_effect for model, line in before.items()}
    usual = float(np.median(list(known.values()))) if known else 1.0
    of_bias = (earlier.facts.get("side_bias") or {}).get("design_effect", 1.0)
    return DesignEffects(np.array([known.get(model.pk, usual) for model in board.models]), of_bias)


def _frozen_scaling(earlier: AggregationRun | None) -> Scaling | None:
    """The board's, unless the method has changed."""
    style = earlier.facts.get("style") if earlier and earlier.method in (method.NAME, method.WITH_SIDES) else None
    return style and Scaling(np.array(style["scaling"]["mean"]), np.array(style["scaling"]["sd"]))


def _facts(run: AggregationRun, fit: SnapshotFit, earlier: AggregationRun | None, effort: Effort) -> JsonObject:
    """What the fit found, and which snapshots found what it took over."""
    old = earlier.facts if earlier else {}
    facts: JsonObject = {
        **fit.facts,
        "design_effects_of": run.public_id if effort.voters else old.get("design_effects_of"),
        "thorough": effort.style and effort.voters,
        "thorough_at": run.started_at.isoformat() if effort.style else old.get("thorough_at"),
    }
    for name, is_own in (("style", effort.style), ("flips_first", "flips_first" in fit.facts)):
        if is_own and name in facts:
            facts[f"{name}_of"] = run.public_id
        elif not is_own and name in old:
            facts |= {name: old[name], f"{name}_of": old[f"{name}_of"]}
    return facts


@dataclass(frozen=True)
class LiveFigures:
    """What is measured outside the votes' counts, by the models' ids."""

    elo: dict[int, float]
    first_token_ms: dict[int, int]


def _standing(
    run: AggregationRun,
    place: int,
    board: BoardVotes,
    fit: SnapshotFit,
    before: Lines,
    live: LiveFigures,
) -> Standing:
    model = board.models[place]
    line = fit.lines[place]
    if run.facts.get("style_of", run.public_id) != run.public_id and model.pk in before:
        line = {**line, **before[model.pk].style}
    return Standing(
        run=run,
        model=model,
        elo=live.elo.get(model.pk, START) if is_blind(run.scope) else None,
        median_first_token_ms=live.first_token_ms.get(model.pk),
        **line,
    )
