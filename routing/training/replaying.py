from collections.abc import Callable
from dataclasses import replace
from typing import TypedDict

import numpy as np

from routing.deciding.candidates import current_table
from routing.learning.choosing import Options, choose, dial_table, win_chances
from routing.learning.evaluation import Calibration, calibration, quality_area, quality_hull, replay
from routing.learning.grounded import Floats, Indices, win_chance
from routing.learning.heads import HeadReport, choose_scales, fit_router
from routing.learning.router import Router, Scores
from routing.training.job import MIN_VOTES
from routing.training.predictions import expected_costs, predict_scores, predict_sides
from routing.training.vote_log import VoteLog, read_votes

REPLAYED_DIALS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Share of the votes that is trained on by default, the oldest.
TRAINED_SHARE = 0.8
MAX_PERTURBED = 200
_SEED = 1


class TooFewVotes(ValueError):
    pass


class PolicyLine(TypedDict):
    """win_share: against a model drawn uniformly, None if no vote holds the policy's choices; low, high: 95 %."""

    policy: str
    win_share: float | None
    low: float | None
    high: float | None
    votes: int
    cost: float
    first_token_ms: float | None


class ReplayResult(TypedDict):
    """curve: (cost, win share) of the router's dials; hull: of all lines; area: AIQ of the dials."""

    trained_votes: int
    later_votes: int
    heads: list[HeadReport]
    lines: list[PolicyLine]
    curve: list[tuple[float, float]]
    hull: list[tuple[float, float]]
    area: float | None
    calibration: Calibration
    same_target: float


def replay_votes(*, until: int | None = None) -> ReplayResult:
    """Train on the votes up to the number `until`, and replay policies on the later ones.

    Raises TooFewVotes.
    """
    log = read_votes()
    if until is None:
        until = int(log.order[int(len(log) * TRAINED_SHARE) - 1]) if len(log) else 0
    old, later = np.flatnonzero(log.order <= until), np.flatnonzero((log.order > until) & log.is_drawn)
    if len(old) < MIN_VOTES or len(later) < MIN_VOTES:
        raise TooFewVotes(f"{len(old)} votes to train on and {len(later)} later ones; {MIN_VOTES} of each are needed.")
    return _Replay(log, old, later).result()


class _Replay:
    def __init__(self, log: VoteLog, old: Indices, later: Indices) -> None:
        self.log, self.votes = log, log.votes
        table = current_table(None)
        rows = {model.pk: row for row, model in enumerate(table.models)}
        known = [number for number, model in enumerate(log.votes.models) if model in rows]
        # Column of each model of the log among the candidates, −1 for one that cannot be drawn now.
        self.column = np.full(len(log.votes.models), -1)
        self.column[known] = np.arange(len(known))
        both = (self.column[log.votes.left] >= 0) & (self.column[log.votes.right] >= 0)
        self.later = later[both[later]]
        if len(known) < 2 or len(self.later) < MIN_VOTES:
            raise TooFewVotes("Too few later votes on models that can be drawn.")
        self.models = [log.votes.models[number] for number in known]
        places = [rows[model] for model in self.models]
        self.weights = table.weights[places]
        self.waits = table.first_token_ms[places]
        self.costs = expected_costs(table, log, self.later)[:, places]
        training = log.votes.subset(old)
        self.heads = list(choose_scales(training))
        labels, features = (head["scale"] for head in self.heads)
        self.trained = len(old)
        self.best_only = fit_router(training, label_scale=0, feature_scale=0)
        self.by_label = fit_router(training, label_scale=labels, feature_scale=0)
        self.router = fit_router(training, label_scale=labels, feature_scale=features)

    def result(self) -> ReplayResult:
        scores = predict_scores(self.router, self.log, self.later, self.models)
        chances = win_chances(scores.theta, self.weights, self.router.tie_factor)
        best = int(self.best_only.scores(self.models, [], []).theta.argmax())
        rows = len(self.later)
        router = replace(self.router, prices=dial_table(chances, self.costs))
        label_scores = predict_scores(self.by_label, self.log, self.later, self.models)
        dials = [
            self._line(f"router, dial {dial}", self._choices(router, scores, best, dial)) for dial in REPLAYED_DIALS
        ]
        lines = [
            self._line("random", np.random.default_rng(_SEED).integers(0, len(self.models), rows)),
            self._line("cheapest", self.costs.argmin(axis=1)),
            self._line("always the best", np.full(rows, best)),
            self._line("labels only", self._choices(self.by_label, label_scores, best, 1.0)),
            *dials,
            self._line("best of each label, in hindsight", self._hindsight()),
        ]
        curve = _points(dials)
        return ReplayResult(
            trained_votes=self.trained,
            later_votes=rows,
            heads=self.heads,
            lines=lines,
            curve=curve,
            hull=quality_hull(*zip(*_points(lines), strict=True)) if _points(lines) else [],
            area=quality_area(*zip(*curve, strict=True)) if curve else None,
            calibration=self._calibration(),
            same_target=self._same_target(chances),
        )

    def _choices(self, router: Router, scores: Scores, best: int, dial: float) -> Indices:
        random = np.random.default_rng(_SEED)
        chosen = []
        for theta, sd, costs in zip(scores.theta, scores.sd, self.costs, strict=True):
            choice = choose(
                Options(range(len(costs)), self.weights, costs), Scores(theta, sd), price=router.price(dial), best=best,
                random=random, tie_factor=router.tie_factor,
            )  # fmt: skip
            chosen.append(choice.model)
        return np.array(chosen, dtype=np.int64)

    def _line(self, name: str, chosen: Indices) -> PolicyLine:
        rows = self.later
        left, right = self.column[self.votes.left[rows]], self.column[self.votes.right[rows]]
        cost = self.costs[np.arange(len(rows)), chosen]
        replayed = replay(
            chosen == left, chosen == right, self._left_share(), self.log.propensity[rows], cost, self.votes.voter[rows]
        )
        waits = self.waits[chosen]
        return PolicyLine(
            policy=name,
            win_share=_known(replayed.win_share),
            low=_known(replayed.low),
            high=_known(replayed.high),
            votes=replayed.votes,
            cost=replayed.cost,
            first_token_ms=float(np.nanmean(waits)) if not np.isnan(waits).all() else None,
        )

    def _left_share(self) -> Floats:
        return np.array([1, 0, 0.5, 0.5])[self.votes.outcome[self.later]]

    def _hindsight(self) -> Indices:
        """Return for each vote the model that won the largest share of the later votes with its first label."""
        rows, share = self.later, self._left_share()
        first = [self.log.labels[row][0] for row in rows.tolist()]
        chosen = np.zeros(len(rows), dtype=np.int64)
        for label in set(first):
            inside = np.array([each == label for each in first])
            sides = np.concatenate(
                [self.column[self.votes.left[rows]][inside], self.column[self.votes.right[rows]][inside]]
            )
            shares = np.concatenate([share[inside], 1 - share[inside]])
            count = np.bincount(sides, minlength=len(self.models))
            # One virtual tie: a model with a single vote is not the best.
            won = np.bincount(sides, weights=shares, minlength=len(self.models))
            chosen[inside] = ((won + 0.5) / (count + 1)).argmax()
        return chosen

    def _calibration(self) -> Calibration:
        left, right = predict_sides(self.router, self.log, self.later)
        return calibration(win_chance(left, right, self.router.tie_factor), self._left_share())

    def _same_target(self, chances: Floats) -> float:
        """Return how often the choice stays after changes of case, spacing, quotes and invisible characters."""
        same = []
        for place, row in enumerate(self.later[:MAX_PERTURBED].tolist()):
            for change in _PERTURBATIONS:
                texts = [change(text) for text in self.log.prompts[row]]
                theta = self.router.scores(self.models, self.log.labels[row], texts).theta
                changed = win_chances(theta, self.weights, self.router.tie_factor)
                same.append(changed.argmax() == chances[place].argmax())
        return float(np.mean(same))


_PERTURBATIONS: tuple[Callable[[str], str], ...] = (
    str.upper,
    lambda text: text.replace(" ", "  ") + "\n",
    lambda text: text.replace(" ", " \u200b"),
    lambda text: text.replace('"', "”").replace("'", "’"),
)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _points(lines: list[PolicyLine]) -> list[tuple[float, float]]:
    return [(line["cost"], line["win_share"]) for line in lines if line["win_share"] is not None]
