"""A version's cases as a table with a column for each variable."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from django.db.models import Expression, F, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from benchmarks.imports.column_names import find_prompt
from benchmarks.models import Case, RenderedPrompt, TemplateVersion
from common.text.numbers import parse_whole_number

PER_PAGE = 50


@dataclass(frozen=True)
class CasePage:
    """columns: names of variables. next: cursor of the following page, "" on the last one."""

    cases: list[Case]
    columns: list[str]
    next: str = ""

    @property
    def has_files(self) -> bool:
        return any(case.files.all() for case in self.cases)

    @property
    def rows(self) -> list[tuple[Case, list[str], str]]:
        """Return cases with cells and expected values."""
        return [
            (case, [cell_text(case.variables.get(name, "")) for name in self.columns], expected_text(case.expected))
            for case in self.cases
        ]


def read_cases(version: TemplateVersion, *, after: str = "", search: str = "", per_page: int = PER_PAGE) -> CasePage:
    """Return a page. after: `next` of the page before; an invalid one gives the first."""
    cases = version.cases.prefetch_related("files__upload").order_by("position")
    if search:
        cases = cases.filter(Q(key__icontains=search) | Q(variables__icontains=search) | Q(tags__icontains=search))
    if (position := parse_whole_number(after, max_digits=9)) is not None:
        cases = cases.filter(position__gt=position)
    page = list(cases[: per_page + 1])
    shown = page[:per_page]
    return CasePage(shown, columns_of(shown), str(shown[-1].position) if len(page) > per_page else "")


def columns_of(cases: Sequence[Case]) -> list[str]:
    """Return names of variables in order of occurrence."""
    return list(dict.fromkeys(name for case in cases for name in case.variables))


def cell_text(value: object) -> str:
    """Return texts as they are, others as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def expected_text(expected: object) -> str:
    """Return one text as it is, other expected values as JSON."""
    if expected == []:
        return ""
    if isinstance(expected, list) and len(expected) == 1 and isinstance(expected[0], str):
        return expected[0]
    return cell_text(expected)


def read_questions(version: TemplateVersion, cases: Sequence[Case], *, limit: int | None = None) -> dict[int, str]:
    """Return the variable with a usual name, else the first prompt's last message, by case. limit: characters."""
    questions, others = dict[int, str](), list[Case]()
    for case in cases:
        if name := find_prompt(case.variables):
            questions[case.pk] = cell_text(case.variables[name])[:limit]
        else:
            others.append(case)
    if others:
        message: Expression | F = KT("messages__-1__content")
        rendered = RenderedPrompt.objects.filter(prompt__version=version, case__in=others)
        first = rendered.order_by("case", "prompt__position").distinct("case")
        questions |= first.values_list("case", message if limit is None else Left(message, limit))
    return questions
