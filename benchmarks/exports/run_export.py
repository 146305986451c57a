from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from django.utils.translation import get_language

from benchmarks.exports.columns import item_table
from benchmarks.models import Case, Entrant, Run, Score, TemplateVersion
from benchmarks.reports.item_rows import BATCH, entrant_key, item_rows
from benchmarks.reports.store import read_report
from benchmarks.statistics.payload import ReportPayload
from benchmarks.statistics.rows import ItemRow
from common.tables.table import Table


def case_batches(version: TemplateVersion, size: int) -> Iterator[list[Case]]:
    """Yield cases in their order; holds no connection between batches."""
    position = -1
    cases = version.cases.order_by("position").prefetch_related("files__upload")
    while batch := list(cases.filter(position__gt=position)[:size]):
        yield batch
        position = batch[-1].position


@dataclass(frozen=True)
class RunExport:
    """with_contents: with prompts, references and replies. is_wide: a row per case, for CSV. language: for people."""

    run: Run
    with_contents: bool = True
    is_wide: bool = False
    language: str | None = field(default_factory=get_language)

    def batches(self) -> Iterator[Sequence[ItemRow]]:
        """Yield items entrant by entrant; holds no connection between batches."""
        rows = item_rows(self.run, with_texts=self.with_contents)
        while batch := list(islice(rows, BATCH)):
            yield batch

    def case_batches(self, size: int) -> Iterator[list[Case]]:
        return case_batches(self.run.version, size)

    @cached_property
    def table(self) -> Table:
        version_keys = list(self.run.scoring_version.checks.values_list("key", flat=True))
        scores = Score.objects.filter(item__entrant__run=self.run, source="check").order_by()
        scored_keys = set(scores.values_list("check_key", flat=True).distinct())
        return item_table([*version_keys, *sorted(scored_keys.difference(version_keys))])

    @cached_property
    def report(self) -> ReportPayload:
        return read_report(self.run)

    @cached_property
    def entrants(self) -> list[Entrant]:
        return list(self.run.entrants.select_related("model__team", "prompt").order_by("position"))

    @cached_property
    def names(self) -> dict[str, str]:
        """Return unique names of the entrants by their keys, in order."""
        uses = Counter(map(str, self.entrants))
        return {
            entrant_key(entrant): str(entrant)
            if uses[str(entrant)] == 1
            else " · ".join(filter(None, [str(entrant), entrant.prompt.label, entrant_key(entrant)]))
            for entrant in self.entrants
        }
