"""Model × template: the newest result of each pair."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from django.db.models import OuterRef, Subquery

from accounts.actor import Actor
from accounts.models import Team
from benchmarks.access import runs_in_place
from benchmarks.models import Run, RunReport, Template
from benchmarks.statistics.averages import TemplateMean, averages
from benchmarks.statistics.headers import EntrantHeader
from benchmarks.statistics.payload import Mean

# The newest ones; older results than these are not shown.
MAX_RUNS = 500


@dataclass(frozen=True)
class HeatCell:
    """A model's mean in the newest run of a template that has one. level: 0 to 10 for the colour."""

    run: str
    mean: Mean

    @property
    def level(self) -> int:
        return round(10 * min(max(self.mean.mean.value or 0.0, 0.0), 1.0))


class HeatRow(NamedTuple):
    model: str
    cells: list[HeatCell | None]
    average: TemplateMean | None


@dataclass(frozen=True)
class HeatMap:
    """Newest results by model and template. rows: each with a cell for every template."""

    templates: list[Template]
    rows: list[HeatRow]


def read_heat_map(
    actor: Actor, wanted: Collection[str] = (), *, place: Team | None = None, with_average: bool = False
) -> HeatMap:
    """Return the heat map of a place's readable runs. wanted: templates' public ids; empty: all of them."""
    runs = runs_in_place(actor, place).filter(state=Run.State.DONE).order_by("-created_at")
    if wanted:
        runs = runs.filter(version__template__public_id__in=wanted)
    newest = RunReport.objects.filter(run=OuterRef("pk")).order_by("-number")
    rows = runs.annotate(
        headers=Subquery(newest.values("payload__entrants")[:1]),
        means=Subquery(newest.values("payload__metrics__0__means")[:1]),
    ).values_list("public_id", "version__template", "headers", "means")[:MAX_RUNS]
    cells: dict[str, dict[int, HeatCell]] = {}
    for run, template_id, headers, means in rows:
        if headers is not None and means is not None:
            _add(cells, run, template_id, headers, means)
    ids = {template_id for row in cells.values() for template_id in row}
    templates = sorted(Template.objects.in_bulk(ids).values(), key=lambda template: template.name.lower())
    model_averages = _averages(cells) if with_average else {}
    return HeatMap(
        templates,
        [
            HeatRow(model, [row.get(template.pk) for template in templates], model_averages.get(model))
            for model, row in sorted(cells.items(), key=lambda item: item[0].lower())
        ],
    )


def _add(
    cells: dict[str, dict[int, HeatCell]], run: str, template_id: int, headers: object, means: Sequence[object]
) -> None:
    """Add a run's results where no newer run has one; of a model with several prompts, the first."""
    models = {header.entrant: header.model for header in msgspec.convert(headers, list[EntrantHeader])}
    for mean in sorted(msgspec.convert(means, list[Mean]), key=lambda mean: mean.entrant):
        row = cells.setdefault(models[mean.entrant], {})
        newer = row.get(template_id)
        if newer is None or (newer.mean.mean.value is None and mean.mean.value is not None):
            row[template_id] = HeatCell(run, mean)


def _averages(cells: dict[str, dict[int, HeatCell]]) -> dict[str, TemplateMean]:
    """Return averages of the models with complete results in all templates."""
    by_model = {
        model: {
            str(template): mean for template, cell in row.items() if (mean := _complete_mean(cell.mean)) is not None
        }
        for model, row in cells.items()
    }
    return averages(by_model)


def _complete_mean(mean: Mean) -> TemplateMean | None:
    value, low, high = mean.mean.value, mean.mean.low, mean.mean.high
    if not mean.is_complete or value is None or mean.se is None or low is None or high is None:
        return None
    return TemplateMean(value, mean.se, low, high)
