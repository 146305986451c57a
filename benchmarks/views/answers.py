"""Matrix, items and cases of a run; held-out ones for the owner alone."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from benchmarks import access, actions
from benchmarks.forms.grades import GradeForm, chosen_of
from benchmarks.models import Run, RunItem
from benchmarks.queries.answers import read_case, read_item
from benchmarks.queries.cases import cell_text, expected_text
from benchmarks.queries.matrix import FINISHED_SIGNS, MatrixForm, entrants_of, read_matrix, tags_of
from benchmarks.reports.grades import next_to_grade, read_item_grades
from benchmarks.streaming import position_now, token_for
from benchmarks.views.pages import PageRequest, member_of
from common.errors import ArenaError
from common.text.numbers import parse_whole_number


@require_safe
def matrix(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a page of the matrix; to htmx, only the table."""
    run = access.get_run_with_answers_or_404(request.actor, public_id)
    shows_contents = access.shows_contents_of(request.actor, run)
    entrants = entrants_of(run)
    form = MatrixForm(request.GET, entrants)
    form.full_clean()
    page = read_matrix(run, form, entrants, after=request.GET.get("after", ""), with_contents=shows_contents)
    context = {
        "run": run,
        "form": form,
        "entrants": entrants,
        "page": page,
        "shows_contents": shows_contents,
        "stream": token_for(run, request.actor, with_items=True),
        "after": position_now(),
        "finished_signs": FINISHED_SIGNS,
        "items_url": "../items/" if shows_contents else "",  # short, because there are hundreds
    }
    if request.htmx:
        return render(request, "benchmarks/matrix.html#matrix", context)
    return render(request, "benchmarks/matrix.html", {**context, "tags": tags_of(run)})


def _readable_run(request: PageRequest, public_id: str) -> Run:
    run = access.get_run_with_answers_or_404(request.actor, public_id)
    if not access.shows_contents_of(request.actor, run):
        raise Http404
    return run


@require_safe
def item(request: PageRequest, public_id: str, item_id: int) -> HttpResponse:
    return _item_page(request, _readable_run(request, public_id), item_id)


def _item_page(
    request: PageRequest, run: Run, item_id: int, form: GradeForm | None = None, *, status: int = 200
) -> HttpResponse:
    """Return an item's page; to htmx, its grades."""
    page = read_item(run, item_id)
    if page is None:
        raise Http404
    grades = read_item_grades(page.item, request.actor)
    owns = access.owns(request.actor, run)
    may_grade = access.may_grade(request.actor, run) and bool(page.replies)
    hides_names = may_grade and request.GET.get("names") == "hidden"
    context = {
        "run": run, "page": page, "expected": expected_text(page.case.expected),
        "grades": grades, "chosen": chosen_of(grades.own),
        "may_grade": may_grade, "shows_comments": owns, "may_judge": owns, "hides_names": hides_names,
        "next_to_grade": next_to_grade(run, request.actor, but=item_id) if hides_names else None,
        "grade_form": form or GradeForm(initial={"comment": grades.own.comment if grades.own else ""}),
    }  # fmt: skip
    name = "benchmarks/item.html#grades" if request.htmx else "benchmarks/item.html"
    return render(request, name, context, status=status)


@login_required
@require_POST
def grade(request: PageRequest, public_id: str, item_id: int) -> HttpResponse:
    """Store a grade of an item; to htmx, show its grades."""
    run = access.get_run_to_grade_or_404(request.actor, public_id)
    graded = get_object_or_404(RunItem, entrant__run=run, pk=item_id)
    form = GradeForm(request.POST)
    if form.is_valid():
        kind, value = form.grade_fields()
        comment = form.cleaned_data["comment"]
        try:
            actions.grade_item(grader=member_of(request), item=graded, kind=kind, value=value, comment=comment)
        except ArenaError as refusal:
            form.add_error(None, refusal.detail)
    if form.errors:
        return _item_page(request, run, item_id, form, status=422)
    if request.htmx:
        return _item_page(request, run, item_id)
    address = reverse("benchmarks:item", args=[run.public_id, item_id])
    return redirect(f"{address}?names=hidden" if request.GET.get("names") == "hidden" else address)


@require_safe
def case(request: PageRequest, public_id: str, case_id: int) -> HttpResponse:
    run = _readable_run(request, public_id)
    repeat = parse_whole_number(request.GET.get("repeat", ""), max_digits=3) or 1
    result = read_case(run, case_id, repeat=repeat - 1)
    if result is None:
        raise Http404
    shown_case, replies, repeats = result
    context = {
        "run": run, "case": shown_case, "replies": replies, "repeats": range(1, repeats + 1),
        "repeat": replies[0].item.repeat + 1 if replies else 1,
        "variables": [(name, cell_text(value)) for name, value in shown_case.variables.items()],
        "expected": expected_text(shown_case.expected),
    }  # fmt: skip
    return render(request, "benchmarks/case.html", context)
