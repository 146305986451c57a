"""Figures of people in a decision report: how they agree, and how a campaign asked them. From its inputs alone."""

from collections.abc import Iterator

import numpy as np

from benchmarks.statistics.agreement import OUTCOMES, Estimate, Pairs
from benchmarks.statistics.payload import Interval, number
from reviews.reports.document import (
    AgreementFigure,
    AgreementInputs,
    CampaignInputs,
    Caution,
    ContrastFigure,
    PairTables,
    StopRuleInputs,
)
from reviews.statistics.comparisons import Comparison, compare_with_people
from reviews.statistics.stop_rule import Rule, bounds, decide_means

# Fewer people are no decision, however many opinions they gave.
FEW_PEOPLE = 8
PEOPLE, CHECKS = "people", "checks"


def agreement_figures(inputs: AgreementInputs) -> Iterator[AgreementFigure]:
    people = _pairs(inputs.people)
    if figures := compare_with_people(people, None):
        yield _figure(PEOPLE, figures)
    for source, tables in ((CHECKS, inputs.checks), *((judge.key, judge.pairs) for judge in inputs.judges)):
        if figures := compare_with_people(_pairs(tables), people):
            yield _figure(source, figures)


def contrast_figures(inputs: StopRuleInputs) -> Iterator[ContrastFigure]:
    rule = Rule(inputs.share / 100 - 0.5, inputs.level / 100, len(inputs.contrasts))
    for contrast in inputs.contrasts:
        means = np.array(contrast.means, dtype=np.float64)
        weights = np.ones(len(means))
        decision, decided_after = decide_means(rule, means, weights)
        low, high = bounds(rule, means, weights)
        yield ContrastFigure(
            first=contrast.first, second=contrast.second, decision=decision.value, decided_after=decided_after,
            people=len(means), opinions=contrast.opinions, mean=float(means.mean()) if len(means) else None,
            low=low, high=high,
        )  # fmt: skip


def cautions_of_campaign(subject: CampaignInputs) -> Iterator[Caution]:
    if subject.ended_by == "owner" and subject.board.votes_counted < subject.items * subject.opinions_per_item:
        yield Caution(code="closed_early")
    if subject.people < FEW_PEOPLE:
        yield Caution(code="few_people", n=subject.people)
    if subject.audience in ("link", "codes"):
        yield Caution(code="not_verified", n=subject.people)
    if subject.set_aside:
        yield Caution(code="set_aside", n=subject.set_aside)
    if left_out := sum(subject.left_out.values()):
        yield Caution(code="pairs_left_out", n=left_out)
    if subject.plan == "adaptive":
        yield Caution(code="adaptive")
    for key in subject.retired or ():
        yield Caution(code="retired", key=key)


def tables_of(pairs: Pairs | None, cases: dict[int, int]) -> PairTables | None:
    """Return what is stored of pairs. cases: numbers of a report's cases, which grows here."""
    if pairs is None:
        return None
    return PairTables(
        cases=[cases.setdefault(case, len(cases)) for case in pairs.cases.tolist()],
        tables=pairs.tables.reshape(len(pairs.cases), -1).tolist(),
        confusion=pairs.confusion.reshape(-1).tolist(),
    )


def _pairs(stored: PairTables | None) -> Pairs | None:
    if stored is None:
        return None
    cases = np.array(stored.cases, dtype=np.int64)
    order = np.argsort(cases)
    tables = np.array(stored.tables, dtype=np.float64).reshape(-1, OUTCOMES, OUTCOMES)
    confusion = np.array(stored.confusion, dtype=np.float64).reshape(OUTCOMES, OUTCOMES)
    return Pairs(tables[order], cases[order], confusion)


def _figure(source: str, comparison: Comparison) -> AgreementFigure:
    figures, above = comparison.agreement, comparison.above_people
    return AgreementFigure(
        source=source, opinions=figures.raw.n, cases=figures.raw.cases, raw=_interval(figures.raw),
        without_ties=_interval(figures.without_ties), alpha=_interval(figures.alpha),
        above=None if above is None else _interval(above),
    )  # fmt: skip


def _interval(estimate: Estimate) -> Interval:
    return Interval(number(estimate.value), number(estimate.low), number(estimate.high))
