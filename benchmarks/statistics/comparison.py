"""Report of one run against an earlier one."""

import numpy as np

from benchmarks.statistics.headers import PASSED, SCORE, EntrantHeader
from benchmarks.statistics.inputs import RunInputs
from benchmarks.statistics.multiple import holm
from benchmarks.statistics.payload import EntrantComparison, Interval, RunComparison, number
from benchmarks.statistics.run_against_run import MatchedCases, difference_of_runs, flips, match_cases


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # figures that do not exist are None
def compare_runs(older: RunInputs, newer: RunInputs) -> RunComparison:
    """Compare entrants with the same model name and prompt label, on cases with the same digest and a weight."""
    older, newer = older.sorted(), newer.sorted()
    keys = [[case for case in run.cases if case.weight > 0] for run in (older, newer)]
    matched = match_cases(*([case.digest for case in cases] for cases in keys))
    places = _matched_entrants(older.entrants, newer.entrants)
    compared = [_compare(older, newer, pair, matched, [case.key for case in keys[1]]) for pair in places]
    adjusted = holm(np.array([np.nan if entrant.p is None else entrant.p for entrant in compared], dtype=float))
    for entrant, p in zip(compared, adjusted, strict=True):
        entrant.holm_p = number(p)
    return RunComparison(older.header.run, newer.header.run, len(matched.newer), matched.new, matched.gone, compared)


def _matched_entrants(older: list[EntrantHeader], newer: list[EntrantHeader]) -> list[tuple[int, int]]:
    """Return places of entrants in both runs; of several with the same name and label, the first ones."""
    place_by_name: dict[tuple[str, str], int] = {}
    for place, entrant in enumerate(older):
        place_by_name.setdefault((entrant.model, entrant.prompt_label), place)
    pairs = []
    for place, entrant in enumerate(newer):
        before = place_by_name.pop((entrant.model, entrant.prompt_label), None)
        if before is not None:
            pairs.append((before, place))
    return pairs


def _compare(
    older: RunInputs, newer: RunInputs, entrant: tuple[int, int], matched: MatchedCases, keys: list[str]
) -> EntrantComparison:
    compared = difference_of_runs(older.scores(SCORE), newer.scores(SCORE), entrant, matched)
    broken, mended, expected = list[str](), list[str](), None
    if PASSED in older.values and PASSED in newer.values:
        flipped = flips(
            older.scores(PASSED).values[entrant[0], matched.older],
            newer.scores(PASSED).values[entrant[1], matched.newer],
        )
        broken, mended = (
            [keys[matched.newer[place]] for place in places] for places in (flipped.broken, flipped.mended)
        )
        expected = flipped.expected
    reused = newer.usage.is_reused[entrant[1]][newer.has_weight][matched.newer]
    return EntrantComparison(
        older=older.entrants[entrant[0]].entrant,
        newer=newer.entrants[entrant[1]].entrant,
        cases=int(compared.cases[0]),
        difference=Interval(number(compared.difference[0]), number(compared.low[0]), number(compared.high[0])),
        p=number(compared.p[0]),
        broken=broken,
        mended=mended,
        expected_flips=expected,
        reused_cases=int((np.nan_to_num(reused) > 0).any(axis=1).sum()),
    )
