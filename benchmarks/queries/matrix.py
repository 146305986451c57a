"""Cases × entrants of a run, 50 rows a page."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Case, Entrant, ItemReply, Run, RunItem
from common.text.numbers import parse_whole_number

ROWS = 50
Sign = Literal["right", "wrong", "partly", "failed", "open", "unscored", "none"]
FINISHED_SIGNS: tuple[Sign, ...] = ("right", "wrong", "partly", "failed", "unscored", "none")


class MatrixForm(forms.Form):
    """Filters; an unknown value filters nothing."""

    search = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=80)
    only = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("all cases")), ("failed", _("with a failed call")), ("wrong", _("with a wrong answer")),
            ("disagree", _("entrants disagree")), ("unscored", _("with an unscored answer")),
            ("graded", _("graded by hand")),
        ],
    )  # fmt: skip

    def value(self, name: str) -> str:
        """Return a filter's value or "" after full_clean()."""
        return str(self.cleaned_data.get(name) or "")

    @property
    def is_narrowed(self) -> bool:
        return any(self.value(name) for name in self.fields)


@dataclass(frozen=True)
class Cell:
    """All repeats of a case and entrant; item_id: of the first."""

    item_id: int
    sign: Sign
    score: float | None
    passed: int
    repeats: int
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatrixPage:
    """next: cursor of the following page, "" on the last one."""

    entrants: list[Entrant]
    rows: list[tuple[Case, list[Cell | None]]]
    next: str


def read_matrix(run: Run, form: MatrixForm, *, after: str = "", is_searchable: bool = True) -> MatrixPage:
    """Return a page. is_searchable: prompts and replies, not only keys."""
    entrants = list(run.entrants.select_related("model", "prompt"))
    cases = _filtered(run, entrants, form, is_searchable=is_searchable).order_by("position")
    if (position := parse_whole_number(after, max_digits=9)) is not None:
        cases = cases.filter(position__gt=position)
    page = list(cases[: ROWS + 1])
    shown = page[:ROWS]
    items = RunItem.objects.filter(entrant__in=entrants, case__in=shown).order_by("repeat").only(
        "entrant", "case", "state", "error", "score", "passed"
    )  # fmt: skip
    items_by_cell: dict[tuple[int, int], list[RunItem]] = defaultdict(list)
    for item in items:
        items_by_cell[item.case_id, item.entrant_id].append(item)
    rows = [(case, [_cell(items_by_cell[case.pk, entrant.pk]) for entrant in entrants]) for case in shown]
    return MatrixPage(entrants, rows, str(shown[-1].position) if len(page) > ROWS else "")


def tags_of(run: Run) -> list[str]:
    tags = run.version.cases.exclude(tags=[]).order_by().values_list("tags", flat=True).distinct()
    return sorted({tag for several in tags for tag in several})


def _filtered(run: Run, entrants: Sequence[Entrant], form: MatrixForm, *, is_searchable: bool) -> QuerySet[Case]:
    cases = Case.objects.filter(version=run.version_id)
    items = RunItem.objects.filter(entrant__in=entrants, case=OuterRef("pk"))
    if tag := form.value("tag"):
        cases = cases.filter(tags__contains=[tag])
    if search := form.value("search"):
        matches = Q(key__icontains=search)
        if is_searchable:
            replies = ItemReply.objects.filter(
                item__entrant__in=entrants, item__case=OuterRef("pk"), reply__text__icontains=search
            )
            matches |= Q(variables__icontains=search) | Q(Exists(replies))
        cases = cases.filter(matches)
    match form.value("only"):
        case "failed":
            cases = cases.filter(Exists(items.filter(state=RunItem.State.FAILED)))
        case "wrong":
            cases = cases.filter(Exists(items.filter(passed=False)))
        case "disagree":
            cases = cases.filter(Exists(items.filter(passed=False)), Exists(items.filter(passed=True)))
        case "unscored":
            cases = cases.filter(Exists(items.filter(state=RunItem.State.SCORED, score=None)))
        case "graded":
            cases = cases.filter(Exists(items.filter(grades__isnull=False)))
    return cases


def _cell(items: Sequence[RunItem]) -> Cell | None:
    if not items:
        return None
    scores = [item.score for item in items if item.score is not None]
    score = sum(scores) / len(scores) if scores else None
    errors = tuple(dict.fromkeys(item.error for item in items if item.error))
    passed = sum(item.passed is True for item in items)
    return Cell(items[0].pk, _sign(items, score, passed), score, passed, len(items), errors)


def _sign(items: Sequence[RunItem], score: float | None, passed: int) -> Sign:
    states = {item.state for item in items}
    if score is None:
        if RunItem.State.FAILED in states:
            return "failed"
        if not states.isdisjoint(RunItem.UNFINISHED):
            return "open"
        return "unscored" if RunItem.State.SCORED in states else "none"
    judged = sum(item.passed is not None for item in items)
    if judged and passed == judged:
        return "right"
    return "wrong" if score == 0 else "partly"
