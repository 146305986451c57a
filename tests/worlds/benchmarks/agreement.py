"""Simulated judges and people with known agreement: how often intervals hold."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from benchmarks.statistics.agreement import (
    TIE,
    Estimate,
    Opinions,
    Scale,
    alpha,
    alpha_difference,
    bias_index,
    cohen_kappa,
    fleiss_kappa,
    pairs_between,
    pairs_within,
    prevalence_index,
    raw_agreement,
)
from benchmarks.statistics.clusters import Floats, Indices

Held = dict[str, list[bool]]
TRUTH_CASES = 200_000


@dataclass(frozen=True)
class AgreementDesign:
    """Cases with some pairs of answers; on each, a judge's verdict and opinions of two people, sometimes of three.

    clarity: standard deviation of a pair's difference in quality, half of its variance shared within a case; noise: of
    the judge; lean: of the judge to the left; margin: differences below it are ties; lopsided: mean difference.
    """

    cases: int
    pairs: int = 3
    clarity: float = 1.0
    noise: float = 1.0
    lean: float = 0.0
    margin: float = 0.4
    lopsided: float = 0.0

    @property
    def name(self) -> str:
        extras = "".join(
            f", {name} {getattr(self, name):g}"
            for name in ("clarity", "noise", "lean", "margin", "lopsided")
            if getattr(self, name) != getattr(AgreementDesign(0), name)
        )
        return f"{self.cases} cases × {self.pairs}{extras}"


DESIGNS = [
    AgreementDesign(15),
    AgreementDesign(40),
    AgreementDesign(200),
    AgreementDesign(40, clarity=0.0),
    AgreementDesign(40, clarity=8.0, noise=0.3),
    AgreementDesign(40, clarity=3.0, lopsided=5.0),
    AgreementDesign(40, lean=1.0),
    AgreementDesign(40, margin=0.0),
    AgreementDesign(60, pairs=1),
    AgreementDesign(25, pairs=8),
]


def agreement_coverage(design: AgreementDesign, *, repetitions: int, seed: int) -> Held:
    """Return whether the interval of each figure holds its true value, where it has one."""
    rng = np.random.default_rng(seed)
    held: Held = defaultdict(list)
    truth = _truth(design)
    for _ in range(repetitions):
        for name, estimate in _estimates(*_opinions(rng, design)).items():
            if not np.isnan(estimate.value):
                held[name].append(bool(estimate.low <= truth[name] <= estimate.high))
    return held


def agreement_opinions(seed: int, design: AgreementDesign) -> tuple[Opinions, Opinions]:
    """Return the judge's and people's opinions."""
    return _opinions(np.random.default_rng(seed), design)


@cache
def _truth(design: AgreementDesign) -> dict[str, float]:
    many = replace(design, cases=TRUTH_CASES // design.pairs)
    opinions = _opinions(np.random.default_rng(20260112), many)
    return {name: estimate.value for name, estimate in _estimates(*opinions).items()}


def _estimates(judge: Opinions, people: Opinions) -> dict[str, Estimate]:
    of_judge, of_people = pairs_between(judge, people), pairs_within(people)
    figures: dict[str, Callable[[], Estimate]] = {
        "raw": lambda: raw_agreement(of_judge),
        "raw, people": lambda: raw_agreement(of_people),
        "without ties": lambda: raw_agreement(of_judge.without(TIE)),
        "κ": lambda: cohen_kappa(of_judge),
        "linear κ": lambda: cohen_kappa(of_judge, is_linear=True),
        "nominal α": lambda: alpha(of_judge, Scale.NOMINAL),
        "ordinal α": lambda: alpha(of_judge, Scale.ORDINAL),
        "ordinal α, people": lambda: alpha(of_people, Scale.ORDINAL),
        "difference of α": lambda: alpha_difference(of_judge, of_people, Scale.ORDINAL),
        "Fleiss's κ": lambda: fleiss_kappa(people),
        "prevalence": lambda: prevalence_index(of_judge),
        "bias": lambda: bias_index(of_judge),
    }
    return {name: figure() for name, figure in figures.items()}


def _opinions(rng: np.random.Generator, design: AgreementDesign) -> tuple[Opinions, Opinions]:
    units = design.cases * design.pairs
    case = np.repeat(np.arange(design.cases), design.pairs)
    shared, own = rng.normal(0, np.sqrt(0.5), design.cases)[case], rng.normal(0, np.sqrt(0.5), units)
    quality = design.lopsided + design.clarity * (shared + own)
    unit = np.arange(units)
    judge = _categories(quality - design.lean + rng.normal(0, design.noise, units), design.margin)
    raters = 2 + (rng.random(units) < 0.3)
    rated = np.repeat(unit, raters)
    people = _categories(quality[rated] + rng.normal(0, 1, len(rated)), design.margin)
    return (
        Opinions(unit, np.zeros(units, dtype=np.int64), judge, case),
        Opinions(rated, np.arange(len(rated)), people, case[rated]),
    )


def _categories(values: Floats, margin: float) -> Indices:
    """Return LEFT below the margin's range, TIE inside it, RIGHT above."""
    return (values > -margin).astype(np.int64) + (values > margin)
