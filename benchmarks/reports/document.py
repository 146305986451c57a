"""A run's report as a page, and as a file that needs nothing beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from accounts.actor import Actor
from benchmarks import access
from benchmarks.models import Check, Prompt, Run, RunReport
from benchmarks.reports.chart import Chart, Scored, draw
from benchmarks.reports.item_rows import entrant_key
from benchmarks.reports.power import power_sentence
from benchmarks.reports.readable import find_report_or_so_far
from benchmarks.reports.results import Results, results_of
from benchmarks.reports.store import SO_FAR, payload_of
from benchmarks.statistics.payload import Mean, Pair, PassRate, ReportPayload, TagMean

_STYLES = Path(settings.BASE_DIR) / "static/css/benchmark_report.css"


@dataclass(frozen=True)
class Report:
    """prompts: empty where they stay out. pairs, metrics, passes, tags: with labels."""

    run: Run
    number: int
    computed_at: datetime
    numbers: ReportPayload
    results: Results
    power: str
    prompts: Sequence[Prompt]
    checks: Sequence[Check]
    shows_names: bool
    shows_contents: bool
    pairs: list[tuple[str, str, Pair]]
    metrics: list[tuple[str, list[tuple[str, Mean]]]]
    passes: list[tuple[str, PassRate]]
    tags: list[tuple[str, TagMean]]

    @property
    def is_so_far(self) -> bool:
        return self.number == SO_FAR

    @property
    def total_cost(self) -> Decimal:
        """Return US dollars, lost calls included."""
        return Decimal(str(sum(usage.cost + usage.lost_cost for usage in self.numbers.usage)))

    @property
    def chart(self) -> Chart:
        means = ((row.label, row.mean.mean) for row in self.results.rows)
        scores = [
            Scored(label, mean.low, mean.value, mean.high)
            for label, mean in means
            if mean.value is not None and mean.low is not None and mean.high is not None
        ]
        return draw(scores, share_ticks())


def share_ticks() -> list[tuple[float, str]]:
    return [(share / 100, _("%(number)s %%") % {"number": share}) for share in (0, 25, 50, 75, 100)]


def read_run_report(run: Run, actor: Actor, number: str = "") -> Report | None:
    """Return the run's newest report, another one or one so far, as this person may see it; None if there is none."""
    stored = find_report_or_so_far(actor, run, number)
    return None if stored is None else _report(run, stored, actor)


def _report(run: Run, stored: RunReport, actor: Actor) -> Report:
    numbers, owns = payload_of(stored), access.owns(actor, run)
    shows_names = owns or run.publishes_names
    shows_contents = access.shows_contents_of(actor, run) and shows_names
    labels = _labels(run, numbers, shows_names=shows_names)
    return Report(
        run=run,
        number=stored.number,
        computed_at=stored.computed_at,
        numbers=numbers,
        results=results_of(run, numbers, labels, is_so_far=stored.number == SO_FAR),
        power=power_sentence(numbers, labels),
        prompts=list(run.version.prompts.all()) if shows_contents else [],
        checks=list(stored.version.checks.all()),
        shows_names=shows_names,
        shows_contents=shows_contents,
        pairs=[(labels[pair.first], labels[pair.second], pair) for pair in numbers.metrics[0].pairs],
        metrics=[
            (metric.metric, [(labels[mean.entrant], mean) for mean in metric.means]) for metric in numbers.metrics[1:]
        ],
        passes=[(labels[figure.entrant], figure) for figure in numbers.passes],
        tags=[(labels[figure.entrant], figure) for figure in numbers.tags],
    )


def _labels(run: Run, numbers: ReportPayload, *, shows_names: bool) -> dict[str, str]:
    """Return entrants' names by key, or numbers in the order of their means."""
    if shows_names:
        return {entrant_key(entrant): str(entrant) for entrant in run.entrants.select_related("model", "prompt")}
    means = sorted(numbers.metrics[0].means, key=lambda mean: (-(mean.mean.value or 0.0), mean.entrant))
    return {mean.entrant: _("Entrant %(number)s") % {"number": place} for place, mean in enumerate(means, start=1)}


def as_file(report: Report) -> str:
    context = {"report": report, "run": report.run}
    title = report.run.name or report.run.version.template.name
    return as_html_file("benchmarks/report_body.html", title, context)


def as_html_file(body: str, title: str, context: Mapping[str, object]) -> str:
    """Return one HTML file with its styles and without scripts. body: the template of its content."""
    frame = {**context, "body": body, "title": title, "styles": _styles()}
    return render_to_string("benchmarks/report_file.html", frame)


@cache
def _styles() -> str:
    return _STYLES.read_text()
