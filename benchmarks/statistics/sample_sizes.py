"""Numbers of cases and repeats that a difference needs."""

from math import ceil

from scipy.special import ndtri, stdtrit

from benchmarks.statistics.means import LEVEL

POWER = 0.8
MAX_REPEATS = 32
MAX_CASES = 1_000_000_000
TAIL = (1 + LEVEL) / 2


def cases_to_separate(
    variance: float, difference: float, *, tail: float = TAIL, clusters_per_case: float = 1.0
) -> int | None:
    """Return how many cases in all separate two entrants with power 80 %; None if none do.

    variance: of a case's difference with its repeats, σ_b² + σ_w²/R; difference: the true one; tail: 1 − the one-sided
    error.
    """
    # G = (t_{G−1} + z)²·variance/difference². Source: Miller (2024), with Student's t.
    if difference == 0:
        return None
    cases = 2.0
    for _ in range(50):
        critical = _critical(tail, cases * clusters_per_case - 1)
        # Its square would be 0 or infinite for extreme differences.
        needed = (critical + ndtri(POWER)) ** 2 * variance / difference / difference
        # Halfway steps: with few cases the critical value falls so fast that full steps oscillate.
        cases, before = max(2.0, (cases + needed) / 2), cases
        if not cases <= MAX_CASES:
            return None
        if abs(cases - before) < 1e-6 * cases:
            break
    return ceil(cases - 1e-6 * cases)


def repeats_to_separate(
    between: float, within: float, cases: int, difference: float, *, repeats: int, tail: float = TAIL, df: float
) -> int | None:
    """Return how many repeats of these cases separate two entrants with power 80 %; None if 32 do not.

    between, within: variances estimated from a run of `repeats`.
    """
    # Estimates that are too small are the ones by which repeats seem to suffice: the upper limit of `between` at 80 %
    # counts. The intervals' two more clusters draw a difference to 0 (benchmarks.statistics.paired).
    between += float(ndtri(POWER)) * (between + within / repeats) * (2 / max(df, 1.0)) ** 0.5
    difference *= (df + 1) / (df + 3)
    allowed = cases * difference * difference / (_critical(tail, df) + ndtri(POWER)) ** 2 - between
    if allowed <= 0:
        return None
    needed = within / allowed
    return max(1, ceil(needed)) if needed <= MAX_REPEATS else None


def detectable_difference(variance: float, cases: int, *, tail: float = TAIL) -> float | None:
    """Return the difference that these cases separate with power 80 %; None for one case."""
    if cases < 2:
        return None
    return float((_critical(tail, cases - 1) + ndtri(POWER)) * (variance / cases) ** 0.5)


def _critical(tail: float, df: float) -> float:
    return float(stdtrit(max(df, 1.0), tail))
