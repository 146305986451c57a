"""Simulated answers, a judge of all pairs and people on some: how often the boards' intervals hold."""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial

import numpy as np
from scipy.special import expit

from benchmarks.statistics.calibration import (
    Judged,
    Labels,
    calibrated_board,
    calibrated_mean,
    cell_weights,
    hansen_hurwitz,
)
from benchmarks.statistics.clusters import Floats
from leaderboard.rating.bradley_terry import POINTS, maximum_likelihood

TIE = 0.3  # half the range, in logits, in which answers are called equal
TRUTH_DRAWS = 200_000


class JudgeKind(StrEnum):
    GOOD = "good"
    USELESS = "useless"
    LENGTH = "longer wins"
    FAMILY = "one family"
    DRIFTING = "drifting"


@dataclass(frozen=True)
class BoardDesign:
    """Each case is answered by each entrant, and the judge reads all pairs.

    persons: with a taste for each entrant of this standard deviation; prompts: standard deviation of an entrant's
    quality between cases. by_chance: weigh opinions by their own chance, instead of by pairs. People's opinions are
    drawn over the whole time of a drifting judge.
    """

    judge: JudgeKind
    opinions: int
    persons: int
    entrants: int = 8
    cases: int = 143
    taste: float = 0.35
    prompts: float = 0.7
    by_chance: bool = False

    @property
    def name(self) -> str:
        notes = [f"{self.judge} judge, {self.opinions:,} opinions of {self.persons} people"]
        notes += [f"{self.entrants} entrants, {self.cases} cases"] if (self.entrants, self.cases) != (8, 143) else []
        notes += [f"tastes {self.taste:g}"] if self.taste != 0.35 else []
        notes += [f"prompts {self.prompts:g}"] if self.prompts != 0.7 else []
        return ", ".join(notes + ["weights by chance"] * self.by_chance)


DESIGNS = [
    *(
        BoardDesign(kind, opinions, persons)
        for opinions, persons in ((150, 15), (400, 20), (2000, 40))
        for kind in JudgeKind
    ),
    BoardDesign(JudgeKind.GOOD, 400, 20, prompts=1.2),
    BoardDesign(JudgeKind.GOOD, 2000, 40, prompts=1.2),
    BoardDesign(JudgeKind.FAMILY, 400, 20, taste=0.0),
    BoardDesign(JudgeKind.FAMILY, 400, 20, taste=0.7),
    BoardDesign(JudgeKind.GOOD, 400, 8),
    BoardDesign(JudgeKind.LENGTH, 150, 150),
    BoardDesign(JudgeKind.DRIFTING, 150, 10, entrants=4, cases=40),
]
BY_CHANCE = BoardDesign(JudgeKind.GOOD, 400, 20, by_chance=True)


@dataclass
class BoardCoverage:
    """held, widths: by source, of each entrant of each world; means: whether the intervals of a pair's mean hold."""

    held: dict[str, list[bool]] = field(default_factory=partial(defaultdict, list))
    widths: dict[str, list[float]] = field(default_factory=partial(defaultdict, list))
    means: dict[str, list[bool]] = field(default_factory=partial(defaultdict, list))
    worth: list[float] = field(default_factory=list)

    def extend(self, other: "BoardCoverage") -> None:
        for own, others in ((self.held, other.held), (self.widths, other.widths), (self.means, other.means)):
            for name, values in others.items():
                own[name].extend(values)
        self.worth.extend(other.worth)

    @property
    def width_ratio(self) -> float:
        """Calibrated intervals' mean width over people's."""
        return float(np.mean(self.widths["calibrated"]) / np.mean(self.widths["people"]))


def board_coverage(design: BoardDesign, *, repetitions: int, seed: int) -> BoardCoverage:
    rng = np.random.default_rng(seed)
    theta, shares = _truth(design)
    found = BoardCoverage()
    for _ in range(repetitions):
        judged, labels = judged_board(rng, design)
        board = calibrated_board(judged, labels, design.entrants)
        # The best entrant's share of wins, over its own pairs.
        own = judged.first == 0
        place = np.cumsum(own) - 1
        of_best = own[labels.item]
        best = Labels(place[labels.item[of_best]], labels.outcome[of_best], labels.person[of_best],
                      labels.weight[of_best])  # fmt: skip
        mean = calibrated_mean(judged.outcome[own], judged.case[own], best)
        for name in ("people", "judge", "calibrated"):
            scores = getattr(board, name)
            found.held[name].extend(((scores.low <= theta) & (theta <= scores.high)).tolist())
            found.widths[name].extend((scores.high - scores.low).tolist())
            share = getattr(mean, name)
            if share is not None:
                found.means[name].append(bool(share.low[0] <= shares <= share.high[0]))
        found.worth.append(float(board.worth.mean()))
    return found


def judged_board(rng: np.random.Generator, design: BoardDesign) -> tuple[Judged, Labels]:
    """Return a judge's verdicts on all pairs, and people's opinions by a plan: pairs with fewest opinions first."""
    size, cases = design.entrants, design.cases
    quality = _strengths(design) + rng.normal(0, design.prompts, (cases, size))
    left, right = np.triu_indices(size, 1)
    pairs = len(left)
    first, second, case = np.tile(left, cases), np.tile(right, cases), np.repeat(np.arange(cases), pairs)
    leaning = _leaning(rng, design)
    gap = 1.5 * (quality[case, first] - quality[case, second]) + leaning[case, first] - leaning[case, second]
    if design.judge is JudgeKind.USELESS:
        gap = rng.normal(0, 1, len(gap))
    verdicts = (_outcomes(rng, gap) + _outcomes(rng, gap)) / 2  # both orders
    person = rng.integers(0, design.persons, design.opinions)
    pair, drawn_case, chance = _drawn(rng, design, pairs, person)
    item = drawn_case * pairs + pair
    taste = rng.normal(0, design.taste, (design.persons, size))
    liking = quality[drawn_case] + taste[person]
    rows = np.arange(design.opinions)
    outcome = _outcomes(rng, liking[rows, left[pair]] - liking[rows, right[pair]])
    weight = hansen_hurwitz(chance, len(case)) if design.by_chance else cell_weights(np.tile(np.arange(pairs), cases),
                                                                                     item)  # fmt: skip
    return Judged(first, second, verdicts, case), Labels(item, outcome, person, weight)


def _strengths(design: BoardDesign) -> Floats:
    return np.linspace(0.6, -0.6, design.entrants)


def _leaning(rng: np.random.Generator, design: BoardDesign) -> Floats:
    """Return what the judge adds to an entrant's answer to a case, shape (cases, entrants)."""
    is_even = np.arange(design.entrants) % 2 == 0
    leaning = np.zeros((design.cases, design.entrants))
    if design.judge is JudgeKind.LENGTH:
        leaning += 0.8 * (np.where(is_even, 0.8, -0.8) + rng.normal(0, 1, leaning.shape))
    if design.judge is JudgeKind.FAMILY:
        leaning += 1.2 * is_even
    if design.judge is JudgeKind.DRIFTING:
        leaning += np.linspace(0, 2, design.cases)[:, None] * is_even
    return leaning


def _drawn(rng: np.random.Generator, design: BoardDesign, pairs: int, person: Floats) -> tuple[Floats, Floats, Floats]:
    """Return pair, case and chance of each opinion; no person sees an item twice."""
    counts, seen = np.zeros(pairs, dtype=np.int64), set()
    rows: list[tuple[int, int, float]] = []
    for of_person in person:
        is_least = counts == counts.min()
        chances = 0.8 * is_least / is_least.sum() + 0.2 / pairs
        while True:
            pair, case = int(rng.choice(pairs, p=chances)), int(rng.integers(design.cases))
            if (of_person, pair, case) not in seen:
                break
        seen.add((of_person, pair, case))
        counts[pair] += 1
        rows.append((pair, case, chances[pair] / design.cases))
    pair, case, chance = map(np.array, zip(*rows, strict=True))
    return pair, case, chance


def _outcomes(rng: np.random.Generator, gap: Floats) -> Floats:
    felt = gap + rng.logistic(size=len(gap))
    return np.where(np.abs(felt) < TIE, 0.5, (felt > 0).astype(float))


@cache
def _truth(design: BoardDesign) -> tuple[Floats, float]:
    """Return scores of all people on all cases there could be, and the best entrant's share of wins."""
    size = design.entrants
    normal = np.random.default_rng(1).standard_normal(TRUTH_DRAWS)
    spread = np.sqrt(2 * (design.prompts**2 + design.taste**2)) * np.concatenate([normal, -normal])
    strengths, wins = _strengths(design), np.zeros((size, size))
    for first, second in zip(*np.triu_indices(size, 1), strict=True):
        gap = strengths[first] - strengths[second] + spread
        wins[first, second] = ((expit(gap - TIE) + expit(gap + TIE)) / 2).mean()
        wins[second, first] = 1 - wins[first, second]
    return POINTS * maximum_likelihood(wins, np.zeros((size, size))), float(wins[0].sum() / (size - 1))
