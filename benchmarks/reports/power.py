"""Sentences on how many cases tell entrants apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks.access import readable_runs
from benchmarks.models import RunReport, TemplateVersion
from benchmarks.reports.store import payload_of
from benchmarks.statistics.payload import Pair, ReportPayload
from common.text.numbers import format_numbers


def power_sentence(report: ReportPayload, labels: Mapping[str, str]) -> str:
    """Return the number of cases that would tell the best entrant from the next one; "" if these do."""
    pair = _open_pair(report)
    if pair is None or pair.difference.value is None:
        return ""
    names = {"first": labels[pair.first], "second": labels[pair.second]}
    if pair.cases_needed is None:
        return _("No difference was seen between %(first)s and %(second)s: more cases may not tell them apart.") % names
    points = number_format(round(100 * abs(pair.difference.value), 1), 1)
    numbers = format_numbers(needed=pair.cases_needed, cases=pair.cases)
    sentence = _(
        "%(first)s and %(second)s differ by %(points)s points. If that is the true difference, about %(needed)s cases "
        "tell them apart in 4 of 5 runs; this run has %(cases)s."
    ) % {**names, **numbers, "points": points}
    if pair.noise == "repeats" and pair.repeats_needed is not None:
        sentence += " " + _("Or ask each case %(repeats)s times.") % format_numbers(repeats=pair.repeats_needed)
    return sentence


def _open_pair(report: ReportPayload) -> Pair | None:
    """Return the best entrant's pair with the best of those that it cannot be told from."""
    primary = next(metric for metric in report.metrics if metric.is_primary)
    ranked = [mean for mean in primary.means if mean.is_complete and mean.mean.value is not None]
    order = [mean.entrant for mean in sorted(ranked, key=lambda mean: -(mean.mean.value or 0.0))]
    pairs = {frozenset((pair.first, pair.second)): pair for pair in primary.pairs}
    candidates = (pairs.get(frozenset((order[0], other))) for other in order[1:])
    return next((pair for pair in candidates if pair is not None and pair.is_separable is False), None)


@dataclass(frozen=True)
class Power:
    """Difference of scores, from 0 to 1, that so many cases detect in 4 of 5 runs."""

    cases: int
    difference: float

    @property
    def sentence(self) -> str:
        return _(
            "By the last run of this template, its %(cases)s cases can tell two entrants apart that differ by about "
            "%(points)s points."
        ) % {**format_numbers(cases=self.cases), "points": number_format(round(100 * self.difference, 1), 1)}


def read_power(actor: Actor, version: TemplateVersion) -> Power | None:
    """Return what this version's cases detect, from the template's last run; None without one."""
    from benchmarks.statistics.sample_sizes import detectable_difference  # imports scipy, which few requests need

    runs = readable_runs(actor).filter(version__template=version.template_id)
    newest = RunReport.objects.filter(run__in=runs).order_by("-computed_at").first()
    if newest is None or not version.case_count:
        return None
    primary = next(metric for metric in payload_of(newest).metrics if metric.is_primary)
    variances = [
        pair.se**2 * pair.cases for pair in primary.pairs if pair.se is not None and pair.is_separable is not None
    ]
    difference = detectable_difference(median(variances), version.case_count) if variances else None
    return Power(version.case_count, difference) if difference else None
