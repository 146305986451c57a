"""Cases × entrants of a run, 30 rows a page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat, starmap
from typing import Literal, NamedTuple

from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Case, Entrant, ItemReply, Run, RunItem
from benchmarks.queries.cases import expected_text, read_questions
from common.text.numbers import parse_whole_number

ROWS = 30
_FAILURES_OF = "failures-"
MAX_EXCERPT = 100
_WORDS = re.compile(r"(\w+)")
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)")

# Parts of a text, with whether no other answer has their words.
Excerpt = tuple[tuple[str, bool], ...]
Sign = Literal["right", "wrong", "partly", "failed", "open", "unscored", "none"]
SIGNS: dict[Sign, tuple[str, str | Promise]] = {
    "right": ("✓", _("correct")), "wrong": ("✗", _("incorrect")), "partly": ("◐", _("partly correct")),
    "failed": ("!", _("failed")), "open": ("…", _("not answered yet")), "unscored": ("?", _("not scored")),
    "none": ("–", _("not asked")),
}  # fmt: skip
FINISHED_SIGNS: tuple[Sign, ...] = ("right", "wrong", "partly", "failed", "unscored", "none")


class MatrixForm(forms.Form):
    """Filters; an unknown value filters nothing."""

    search = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=80)

    def __init__(self, data: Mapping[str, object], entrants: Iterable[Entrant]) -> None:
        super().__init__(data)
        self.fields["only"] = forms.ChoiceField(required=False, choices=[
            ("", _("all cases")), ("disagree", _("only where they disagree")),
            ("wrong", _("with a wrong answer")), ("failed", _("with a failed call")),
            ("unscored", _("with an unscored answer")), ("graded", _("graded by hand")),
            (_("only failures of"), [(f"{_FAILURES_OF}{entrant.position}", str(entrant)) for entrant in entrants]),
        ])  # fmt: skip

    def value(self, name: str) -> str:
        """Return a filter's value or "" after full_clean()."""
        return str(self.cleaned_data.get(name) or "")

    @property
    def is_narrowed(self) -> bool:
        return any(self.value(name) for name in self.fields)


class Item(NamedTuple):
    """Columns of a RunItem."""

    pk: int
    entrant_id: int
    case_id: int
    repeat: int
    state: str
    error: str
    score: float | None
    passed: bool | None


@dataclass(frozen=True)
class Cell:
    """All repeats of a case and entrant; item_id and answer: of the first."""

    item_id: int
    sign: Sign
    score: float | None
    passed: int
    repeats: int
    errors: tuple[str, ...] = ()
    answer: Excerpt = ()


@dataclass(frozen=True)
class Row:
    """question, expected: "" without contents."""

    case: Case
    cells: list[Cell | None]
    question: str = ""
    expected: str = ""


@dataclass(frozen=True)
class MatrixPage:
    """next: cursor of the following page, "" on the last one."""

    rows: list[Row]
    next: str

    @property
    def has_expected(self) -> bool:
        return any(row.expected for row in self.rows)


def entrants_of(run: Run) -> list[Entrant]:
    return list(run.entrants.select_related("model", "prompt"))


def read_matrix(
    run: Run, form: MatrixForm, entrants: Sequence[Entrant], *, after: str = "", with_contents: bool = True
) -> MatrixPage:
    """Return a page. with_contents: show and search prompts and replies, not only keys."""
    cases = _filtered(run, entrants, form, is_searchable=with_contents).order_by("position")
    if (position := parse_whole_number(after, max_digits=9)) is not None:
        cases = cases.filter(position__gt=position)
    page = list(cases[: ROWS + 1])
    shown = page[:ROWS]
    items = RunItem.objects.filter(entrant__in=entrants, case__in=shown).order_by("repeat")
    items_by_cell: dict[tuple[int, int], list[Item]] = defaultdict(list)
    for item in starmap(Item, items.values_list(*Item._fields)):
        items_by_cell[item.case_id, item.entrant_id].append(item)
    firsts = [items[0].pk for items in items_by_cell.values()] if with_contents else []
    answers = dict(
        ItemReply.objects.filter(item__in=firsts)
        .order_by("item", "turn")
        .values_list("item_id", Left("reply__text", MAX_EXCERPT + 1))
    )
    questions = read_questions(run.version, shown, limit=MAX_EXCERPT + 1) if with_contents else {}
    rows = []
    for case in shown:
        row = [items_by_cell[case.pk, entrant.pk] for entrant in entrants]
        texts = excerpts([answers.get(items[0].pk, "") if items else "" for items in row])
        cells = [_cell(items, text) for items, text in zip(row, texts, strict=True)]
        expected = expected_text(case.expected) if with_contents else ""
        rows.append(Row(case, cells, questions.get(case.pk, ""), expected))
    return MatrixPage(rows, str(shown[-1].position) if len(page) > ROWS else "")


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
    only = form.value("only")
    if only.startswith(_FAILURES_OF):
        own = items.filter(entrant__position=only.removeprefix(_FAILURES_OF))
        failures = Q(state=RunItem.State.FAILED) | Q(passed=False) | Q(passed=None, score=0)
        return cases.filter(Exists(own.filter(failures)))
    match only:
        case "failed":
            cases = cases.filter(Exists(items.filter(state=RunItem.State.FAILED)))
        case "wrong":
            cases = cases.filter(Exists(items.filter(passed=False)))
        case "disagree":
            cases = cases.filter(_has_two_signs(items))
        case "unscored":
            cases = cases.filter(Exists(items.filter(state=RunItem.State.SCORED, score=None)))
        case "graded":
            cases = cases.filter(Exists(items.filter(grades__isnull=False)))
    return cases


def _has_two_signs(items: QuerySet[RunItem]) -> Q:
    """Return whether there are two of right, wrong and partly correct answers, as `sign_of` tells them apart."""
    right, others = Exists(items.filter(passed=True)), items.exclude(score=None).exclude(passed=True)
    wrong, partly = Exists(others.filter(score=0)), Exists(others.exclude(score=0))
    return Q(right, wrong) | Q(right, partly) | Q(wrong, partly)


def _cell(items: Sequence[Item], answer: Excerpt) -> Cell | None:
    if not items:
        return None
    scores = [item.score for item in items if item.score is not None]
    score = sum(scores) / len(scores) if scores else None
    errors = tuple(dict.fromkeys(item.error for item in items if item.error))
    passed = sum(item.passed is True for item in items)
    return Cell(items[0].pk, sign_of(items, score, passed), score, passed, len(items), errors, answer)


def sign_of(items: Sequence[Item], score: float | None, passed: int) -> Sign:
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


def excerpts(texts: Sequence[str]) -> list[Excerpt]:
    """Return the beginnings of answers to one question."""
    short = [_BOLD.sub(r"\1", text if len(text) <= MAX_EXCERPT else text[: MAX_EXCERPT - 1] + "…") for text in texts]
    pieces = [_WORDS.split(text) for text in short]
    words = [[word.casefold() for word in of_one[1::2]] for of_one in pieces]
    answers = Counter(word for of_one in words for word in set(of_one))
    own = {word for word, n in answers.items() if n == 1} if sum(map(bool, words)) > 1 else set[str]()
    return list(map(_parts, pieces, words, repeat(own)))


def _parts(pieces: Sequence[str], words: Sequence[str], own: set[str]) -> Excerpt:
    """Return parts. pieces: other characters and words in turn."""
    parts, text, between, was_own = list[tuple[str, bool]](), "", pieces[0], False
    for piece, word, after in zip(pieces[1::2], words, pieces[2::2], strict=True):
        is_own = word in own
        if is_own == was_own:
            text += between + piece
        elif is_own:
            parts.append((text + between, False))
            text = piece
        else:
            parts.append((text, True))
            text = between + piece
        between, was_own = after, is_own
    parts += [(text, True), (between, False)] if was_own else [(text + between, False)]
    return tuple(part for part in parts if part[0])
