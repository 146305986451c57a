"""Simulated runs with known truth: how often intervals and joint statements hold."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtri, stdtrit

from benchmarks.statistics.clusters import Clusters, Floats, clustered_means
from benchmarks.statistics.means import unit_interval
from benchmarks.statistics.multiple import step_down
from benchmarks.statistics.paired import all_pairs, paired_differences
from benchmarks.statistics.quantiles import quantile
from benchmarks.statistics.sample_sizes import MAX_REPEATS, cases_to_separate, repeats_to_separate
from tests.worlds.benchmarks.run_inputs import scores

Held = dict[str, list[bool]]
# Of the beta distribution of a case's difficulty: its parameters add up to this.
CONCENTRATION = 1.7


@dataclass(frozen=True)
class MeanDesign:
    """Runs with mean score `rate`. sizes: cases of each cluster; fractions: parameters of beta distributed scores."""

    rate: float
    cases: int = 0
    repeats: int = 1
    sizes: tuple[int, ...] = ()
    fractions: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        if self.sizes:
            return f"clusters of {self.sizes[0]}–{self.sizes[-1]} cases ({len(self.sizes)}), p = {self.rate}"
        if self.fractions:
            return f"beta{self.fractions} scores, {self.cases} cases"
        return f"{self.cases} cases × {self.repeats}, p = {self.rate}"


CELLS = [MeanDesign(rate, cases, repeats) for cases, repeats, rate in product((20, 50, 200), (1, 5), (0.5, 0.9, 0.98))]
UNEQUAL = [
    MeanDesign(rate, sizes=sizes)
    for sizes in ((20,) * 4 + (2,) * 10, (50,) + (1,) * 50, (30, 20, 10, 5, 5, 5, 2, 2, 1, 1))
    for rate in (0.5, 0.9)
]
FRACTIONS = [
    MeanDesign(a / (a + b), cases, fractions=(a, b)) for a, b in ((6, 4), (9, 1), (0.5, 0.5)) for cases in (20, 50, 200)
]


def mean_coverage(design: MeanDesign, *, repetitions: int, seed: int) -> tuple[Held, dict[str, float]]:
    """Return whether intervals hold, and their mean widths, for naive Wald, clustered t with G − 1, and ours."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(design.sizes)), design.sizes) if design.sizes else np.arange(design.cases)
    found = scores(_values(rng, design, repetitions, codes), clusters=codes)
    means = clustered_means(found.case_means, found.weights, found.clusters)
    low, high = unit_interval(means, found.effective_items(), is_binary=found.is_binary)
    wald = ndtri(0.975) * np.sqrt(means.mean * (1 - means.mean) / found.effective_items())
    student = stdtrit(len(found.clusters.starts) - 1, 0.975) * means.se
    bounds = {
        "naive Wald": (means.mean - wald, means.mean + wald),
        "clustered t": (means.mean - student, means.mean + student),
        "report": (low, high),
    }
    held = {name: list((lower <= design.rate) & (design.rate <= upper)) for name, (lower, upper) in bounds.items()}
    return held, {name: float((upper - lower).mean()) for name, (lower, upper) in bounds.items()}


def _values(rng: np.random.Generator, design: MeanDesign, repetitions: int, codes: np.ndarray) -> Floats:
    if design.fractions:
        return rng.beta(*design.fractions, (repetitions, design.cases, 1))
    clusters = int(codes.max()) + 1
    concentration = 2.33 if design.sizes else CONCENTRATION  # correlation 0.3 within clusters
    chance = rng.beta(design.rate * concentration, (1 - design.rate) * concentration, (repetitions, clusters))[:, codes]
    return (rng.random((*chance.shape, design.repeats)) < chance[:, :, None]).astype(float)


@dataclass(frozen=True)
class JointDesign:
    """Entrants with these pass rates on the same cases."""

    rates: tuple[float, ...]
    cases: int
    repeats: int = 1
    cases_per_cluster: int = 1

    @property
    def name(self) -> str:
        rates = f"{min(self.rates)}" if len(set(self.rates)) == 1 else f"{min(self.rates)}–{max(self.rates)}"
        clusters = f", {self.cases_per_cluster} to a cluster" if self.cases_per_cluster > 1 else ""
        return f"{len(self.rates)} entrants, {self.cases} cases × {self.repeats}{clusters}, p = {rates}"


JOINT = [
    JointDesign((0.8,) * 2, 20),
    JointDesign((0.9, 0.7), 50),
    JointDesign((0.8,) * 10, 50),
    JointDesign((0.98,) * 10, 50),
    JointDesign((0.9,) * 5 + (0.6,) * 5, 100),
    JointDesign((0.5,) * 10, 20, repeats=3),
    JointDesign((0.6, 0.6, 0.7, 0.8, 0.8), 150, cases_per_cluster=5),
    JointDesign((0.7,) * 5, 400),
]


def joint_coverage(design: JointDesign, *, repetitions: int, seed: int) -> Held:
    """Return whether single and simultaneous intervals hold, and all rank ranges."""
    rng = np.random.default_rng(seed)
    rates = np.array(design.rates)
    first, second = all_pairs(len(rates))
    truth = rates[first] - rates[second]
    codes = np.arange(design.cases) // design.cases_per_cluster
    held: Held = defaultdict(list)
    for _ in range(repetitions):
        found = scores(correlated_scores(rng, rates, codes, design.repeats), clusters=codes)
        pairs = paired_differences(found, (first, second))
        means = clustered_means(found.case_means, found.weights, found.clusters)
        family = step_down(pairs.centre / pairs.scale, float(pairs.df.min()), means.influence, first, second)
        held["single differences"] += list((pairs.low <= truth) & (truth <= pairs.high))
        held["single differences, plain t"] += list(
            np.abs(pairs.difference - truth) <= stdtrit(pairs.df, 0.975) * pairs.se
        )
        held["all differences"].append(bool((np.abs(pairs.centre - truth) <= family.bound * pairs.scale).all()))
        wrong = (family.is_above & (truth <= 0)) | (family.is_below & (truth >= 0))
        held["all rank ranges"].append(not wrong.any())
    return held


def correlated_scores(rng: np.random.Generator, rates: Floats, codes: np.ndarray, repeats: int) -> Floats:
    """Return scores of 0 and 1, shape (entrants, cases, repeats), with exact rates and cases of shared difficulty."""
    cases, entrants = len(codes), len(rates)
    clustered = rng.standard_normal(int(codes.max()) + 1)[codes] if len(np.unique(codes)) < cases else 0.0
    share = 0.15 if np.ndim(clustered) else 0.0
    case, own = rng.standard_normal(cases), rng.standard_normal((entrants, cases))
    noise = rng.standard_normal((entrants, cases, repeats))
    latent = np.sqrt(share) * clustered + np.sqrt(0.4 - share) * case + np.sqrt(0.3) * own
    return (latent[:, :, None] + np.sqrt(0.3) * noise < ndtri(rates)[:, None, None]).astype(float)


def separated_after_more_cases(
    rates: tuple[float, float], cases: int, *, is_known: bool, repetitions: int, seed: int
) -> list[bool]:
    """Return whether a pair is separated once it has the cases that a first run of `cases` says it needs.

    is_known: plan with the true difference. Otherwise with the observed one, without first runs that separate the pair
    already or need more than 20 times their cases.
    """
    rng = np.random.default_rng(seed)
    separated = []
    pairs = all_pairs(2)
    for _ in range(repetitions):
        values = correlated_scores(rng, np.array(rates), np.arange(cases), 1)
        pilot = paired_differences(scores(values), pairs)
        difference = rates[0] - rates[1] if is_known else abs(float(pilot.difference[0]))
        needed = cases_to_separate(float(pilot.scale[0] ** 2 * cases), difference)
        is_separated = pilot.low[0] > 0 or pilot.high[0] < 0
        if needed is None or needed > 20 * cases or (is_separated and not is_known):
            continue
        needed = max(needed, cases)
        more = correlated_scores(rng, np.array(rates), np.arange(needed - cases), 1)
        found = paired_differences(scores(np.concatenate([values, more], axis=1)), pairs)
        separated.append(bool(found.low[0] > 0 or found.high[0] < 0))
    return separated


def separated_after_more_repeats(
    rates: tuple[float, float], cases: int, *, first: int, own: float, shared: float, repetitions: int, seed: int
) -> list[bool]:
    """Return whether a pair is separated by the repeats of its cases that a run of `first` repeats says it needs.

    own, shared: parts of the variance of cases, for one entrant and for both; the rest is noise of repeats.
    """
    rng = np.random.default_rng(seed)
    separated = []
    for _ in range(repetitions):
        case, noise = rng.standard_normal(cases), rng.standard_normal((2, cases, MAX_REPEATS))
        latent = np.sqrt(shared) * case + np.sqrt(own) * rng.standard_normal((2, cases))
        latent = latent[:, :, None] + np.sqrt(1 - shared - own) * noise
        values = (latent < ndtri(np.array(rates))[:, None, None]).astype(float)
        run = paired_differences(scores(values[:, :, :first]), all_pairs(2))
        within, variance = float(run.within[0]), float(run.scale[0]) ** 2 * cases
        needed = repeats_to_separate(
            max(variance - within / first, 0.0), within, cases, rates[0] - rates[1], repeats=first, df=float(run.df[0])
        )
        if needed is None or needed <= first:
            continue
        found = paired_differences(scores(values[:, :, :needed]), all_pairs(2))
        separated.append(bool(found.low[0] > 0 or found.high[0] < 0))
    return separated


def quantile_coverage(level: float, *, cases: int, repeats: int, repetitions: int, seed: int) -> list[bool]:
    """Return whether intervals hold the quantile of lognormal times, correlated within cases if repeated."""
    rng = np.random.default_rng(seed)
    clusters = Clusters.from_codes(np.arange(cases))
    truth = float(ndtri(level))
    held = []
    for _ in range(repetitions):
        values = np.sqrt(0.5) * (rng.standard_normal((cases, 1)) + rng.standard_normal((cases, repeats)))
        if repeats == 1:
            values = rng.standard_normal((cases, 1))
        found = quantile(values, level, clusters)
        low, high = (-np.inf if found.low is None else found.low), (np.inf if found.high is None else found.high)
        held.append(low <= truth <= high)
    return held
