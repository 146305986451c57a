"""Judges: list, editor with a trial, and a judge's page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Team
from accounts.teams.places import PARAMETER, place_named
from benchmarks import access
from benchmarks.editing.judge_trials import Trial, read_trial, start_trial
from benchmarks.forms.judges import JudgeEditor
from benchmarks.judges import actions
from benchmarks.judges.overview import PER_PAGE, judge_rows, read_versions, subjects_of
from benchmarks.models import Judge
from benchmarks.queries.answers import pasted_texts
from benchmarks.views.pages import PageRequest, member_of, place_of
from common.errors import ArenaError
from common.payload_types import JsonObject
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel
from models_registry.picking import read_picker


@login_required
@require_safe
def index(request: PageRequest) -> HttpResponse:
    judges = access.readable_judges(request.actor).filter(archived_at=None)
    team_query = ""
    if PARAMETER in request.GET:
        place = place_named(request.actor, request.GET[PARAMETER])
        judges = judges.filter(team=place)
        team_query = "" if place is None else f"{PARAMETER}={place.slug}"
    page = Paginator(judges.select_related("model").order_by("-created_at", "-pk"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {"page_obj": page, "rows": judge_rows(list(page)), "team_query": team_query}
    return render(request, "benchmarks/judges/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    return _edit(request, None, place_of(request), reverse("benchmarks:new_judge"))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PageRequest, public_id: str) -> HttpResponse:
    judge = access.get_judge_or_404(request.actor, public_id, to_edit=True)
    if judge.archived_at is not None:
        raise Http404
    return _edit(request, judge, judge.team, reverse("benchmarks:edit_judge", args=[public_id]))


def _edit(request: PageRequest, judge: Judge | None, place: Team | None, here: str) -> HttpResponse:
    """Show and save a judge; with a move, other criteria; with `try`, its trial; with `look`, the trial so far."""
    data = request.POST if request.method == "POST" else None
    models = _models(place)
    editor = JudgeEditor(data, judge=judge, models=models, trial=_first_texts(request) if data is None else None)
    context: dict[str, object] = {
        "judge": judge, "editor": editor, "models": models, "here": here, "chosen_place": place,
        "next_number": 1 if judge is None else judge.number + 1,
        "all_url": f"?all=1{f'&{PARAMETER}={place.slug}' if place else ''}",
        "picker": read_picker(
            "one", chosen=[editor.form["models"].value() or ""], shows_all="all" in request.GET, place=place
        ),
    }  # fmt: skip
    if editor.is_moved:
        return render(request, f"benchmarks/judges/editor.html{'#criteria' if request.htmx else ''}", context)
    if data is not None and ("try" in data or "look" in data):
        return _tried(request, editor, place, context)
    if data is not None and editor.is_valid():
        try:
            saved = _save(request, editor, place)
        except ArenaError as refusal:
            editor.form.add_error(None, refusal.detail)
        else:
            messages.success(request, _("The judge is saved."))
            return redirect("benchmarks:judge", saved.public_id)
    return render(request, "benchmarks/judges/editor.html", context, status=200 if data is None else 422)


def _models(place: Team | None) -> list[LanguageModel]:
    return list(LanguageModel.objects.in_place(None if place is None else place.pk).configured())


def _save(request: PageRequest, editor: JudgeEditor, place: Team | None) -> Judge:
    if editor.judge is None:
        return actions.create_judge(owner=member_of(request), content=editor.content(), team=place)
    return actions.edit_judge(editor.judge, editor.content())


def _first_texts(request: PageRequest) -> JsonObject | None:
    """Return texts of the answer that the address names, to try the judge on. Raises AnswersHidden."""
    run_id, item_id = request.GET.get("run", ""), parse_whole_number(request.GET.get("item", ""))
    if not run_id or item_id is None:
        return None
    run = access.get_run_or_404(request.actor, run_id)
    if not access.owns(request.actor, run):
        raise Http404
    access.read_answers(request.actor, run)
    return pasted_texts(run, item_id)


def _tried(
    request: PageRequest, editor: JudgeEditor, place: Team | None, context: dict[str, object]
) -> HttpResponse:  # fmt: skip
    trial, problems = None, []
    if test_id := request.POST.get("look"):
        trial = read_trial(request.actor, test_id)
    elif not editor.is_trial_valid():
        problems = _sentences(editor)
    else:
        try:
            test_id = start_trial(
                request.actor, editor.content(), editor.trial.cleaned_data, team_id=None if place is None else place.pk
            )
            trial = read_trial(request.actor, test_id)
        except ArenaError as refusal:
            problems = [refusal.detail]
    name = "benchmarks/judges/trial.html" if request.htmx else "benchmarks/judges/editor.html"
    return render(request, name, {**context, "trial": trial, "trial_problems": problems})


def _sentences(editor: JudgeEditor) -> list[str]:
    """Return what is wrong, with the names of the fields."""
    forms = [editor.form, editor.trial, *editor.criteria]
    return [
        f"{form.fields[name].label}: {error}" if name in form.fields else str(error)
        for form in forms
        for name, errors in form.errors.items()
        for error in errors
    ]


@login_required
@require_safe
def trial(request: PageRequest, test_id: str) -> HttpResponse:
    """Show a trial so far; the part of the editor that asks for it again until it is over."""
    found: Trial | None = read_trial(request.actor, test_id)
    if found is None:
        raise Http404
    return render(request, "benchmarks/judges/trial.html", {"trial": found})


@login_required
@require_safe
def show(request: PageRequest, public_id: str) -> HttpResponse:
    judge = access.get_judge_or_404(request.actor, public_id)
    [row] = judge_rows([judge])
    context = {
        "judge": judge, "row": row, "versions": read_versions(judge), "subjects": subjects_of(judge),
        "team": access.team_of(request.actor, judge),
        "may_edit": access.may_edit_judge(request.actor, judge),
    }  # fmt: skip
    return render(request, "benchmarks/judges/judge.html", context)


@login_required
@require_POST
def archive(request: PageRequest, public_id: str) -> HttpResponse:
    judge = access.get_judge_or_404(request.actor, public_id, to_edit=True)
    actions.archive_judge(judge)
    messages.success(request, _("The judge is archived. Its judgements stay."))
    return redirect("benchmarks:judges")
