"""A run from its start: page, live progress, changes and files."""

from collections.abc import Callable

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from accounts.models import Team
from accounts.teams.places import PARAMETER
from battles.streaming import protocol
from benchmarks import access, actions, streaming
from benchmarks.actions.run_limit import counted_run
from benchmarks.estimates import estimate
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.responses import export_response
from benchmarks.forms.start import StartForm
from benchmarks.models import Run, Template, TemplateVersion
from benchmarks.queries.run_progress import read_run_progress
from benchmarks.reports.grades import read_run_grades
from benchmarks.reports.power import power_sentence, read_power
from benchmarks.reports.readable import find_report, readable_reports
from benchmarks.reports.results import read_results
from benchmarks.views.pages import PageRequest, member_of, place_of, redirect_to
from common.errors import ArenaError
from common.text.money import plain_decimal
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel
from models_registry.picking import read_picker

MOVES: dict[str, Callable[[Run], Run]] = {
    "start": actions.start_run,
    "pause": actions.pause_run,
    "resume": actions.resume_run,
    "cancel": actions.cancel_run,
    "retry": actions.retry_failed,
}


SHOWN_REASONS = 3


class BudgetForm(forms.Form):
    to = forms.DecimalField(label=gettext_lazy("New budget in US dollars"), max_digits=14, decimal_places=8)


@require_safe
def show(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a run; to htmx, only what changes."""
    run = access.get_run_or_404(request.actor, public_id)
    return redirect(_url_of(run)) if run.is_judging else _page(request, run)


def _url_of(run: Run) -> str:
    """Return the run's page; a judging has its place among the judges of the run that it is about."""
    if run.is_judging:
        return reverse("benchmarks:judgements", args=[run.judging.subject.public_id])
    return reverse("benchmarks:run", args=[run.public_id])


def _page(request: PageRequest, run: Run, form: BudgetForm | None = None, *, status: int = 200) -> HttpResponse:
    progress = read_run_progress(run)
    context: dict[str, object] = {
        "run": run,
        "progress": progress,
        "owns": access.may_change(request.actor, run),
        "may_grade": access.may_grade(request.actor, run),
        "team": access.team_of(request.actor, run),
        # Budgets of a team, and its people who can raise them, are its own affair.
        "shows_money": run.team_id is None or access.owns(request.actor, run),
        "shows_contents": access.shows_contents_of(request.actor, run),
        "stream": streaming.token_for(run, request.actor) if progress.has_work else "",
        "after": streaming.position_now(),
        "budget_form": form or BudgetForm(initial={"to": run.budget and plain_decimal(run.budget)}),
    }
    if progress.answered and run.state in (Run.State.RUNNING, Run.State.PAUSED, Run.State.SCORING):
        context["shows_so_far"] = access.owns(request.actor, run)
    if run.state in (Run.State.DONE, Run.State.CANCELLED) and progress.ended_calls:
        context |= _results(request, run)
        newest = _newest_version(request, run)
        if run.state == Run.State.DONE and newest is not None and newest.number > run.scoring_version.number:
            context["newer_checks"] = newest
    if progress.answered and run.state in (*Run.UNDER_WAY, Run.State.DONE, Run.State.CANCELLED):
        context["may_judge"] = access.may_change(request.actor, run)
        context["has_judgings"] = access.owns(request.actor, run) and run.judgings.exists()
    if progress.ended_calls and context["shows_contents"]:
        context["grades"] = read_run_grades(run, request.actor)
    return render(
        request, "benchmarks/run.html#live" if request.htmx else "benchmarks/run.html", context, status=status
    )


def _results(request: PageRequest, run: Run) -> dict[str, object]:
    """Return the newest report's results, or another one's."""
    number, reports = request.GET.get("number", ""), readable_reports(request.actor, run)
    stored = find_report(request.actor, run, number)
    if number and stored is None:
        raise Http404
    results = read_results(run, None if stored is None else stored.number)
    return {
        "results": results, "power": power_sentence(results.report, results.labels), "has_report": stored is not None,
        "report": stored, "reports": reports.order_by("number").defer("payload"),
    }  # fmt: skip


def _newest_version(request: PageRequest, run: Run) -> TemplateVersion | None:
    """Return the newest version that the person sees: scoring by another's draft would freeze it."""
    return access.visible_versions(request.actor, run.version.template).first()


@login_required
@require_POST
def move(request: PageRequest, public_id: str, move: str) -> HttpResponse:
    """Change a run's state, or leave an entrant out; show a refusal on its page."""
    run = access.get_run_or_404(request.actor, public_id, to_change=True)
    try:
        if move == "rescore":
            actions.rescore_run(run, _newest_version(request, run))
        elif move == "leave-out":
            number = parse_whole_number(request.POST.get("entrant", "")) or 0
            entrant = get_object_or_404(run.entrants.select_related("model", "prompt"), pk=number)
            actions.leave_out(run, entrant, by=member_of(request))
            messages.success(request, _("%(entrant)s is left out. Its answers stay.") % {"entrant": entrant})
        elif move in MOVES:
            MOVES[move](run)
        else:
            raise Http404
    except ArenaError as refusal:
        reasons = [reason for lines in (refusal.fields or {}).values() for reason in lines]
        messages.error(request, " ".join([refusal.detail, *reasons[:SHOWN_REASONS]]))
    else:
        streaming.publish(run.pk)
    return redirect_to(request, _url_of(run))


@login_required
@require_POST
def budget(request: PageRequest, public_id: str) -> HttpResponse:
    run = access.get_run_or_404(request.actor, public_id, to_change=True)
    form = BudgetForm(request.POST)
    if form.is_valid():
        try:
            actions.raise_budget(run, to=form.cleaned_data["to"])
        except ArenaError as refusal:
            form.add_error("to", refusal.detail)
        else:
            messages.success(request, _("The budget is raised."))
            return redirect_to(request, _url_of(run))
    if run.is_judging:
        messages.error(request, " ".join(map(str, form.errors.get("to", []))))
        return redirect_to(request, _url_of(run))
    return _page(request, run, form, status=422)


@require_GET
def stream(request: HttpRequest, token: str) -> StreamingHttpResponse:
    """Stream a run's progress; the signed token authorizes without a query."""
    run_token = streaming.RunToken.read_or_404(token)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after") or protocol.BEGINNING
    return run_token.response(request, streaming.page_events(run_token, after))


@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    run = access.get_run_with_answers_or_404(request.actor, public_id)
    if ending not in WRITERS:
        raise Http404
    return export_response(run, ending, actor=request.actor, wide=request.GET.get("wide", ""))


def _place_of_run(request: PageRequest, template: Template) -> Team | None:
    """Return the template's place; for the site's, that of the page."""
    if template.visibility == Template.Visibility.SITE:
        return place_of(request)
    return access.place_of_run(request.actor, template, request.POST.get(PARAMETER))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the form and start a run; with `estimate`, show its cost instead."""
    template = access.get_template_or_404(request.actor, public_id)
    version = access.find_version(request.actor, template, request.GET.get("version"))
    if version is None:
        raise Http404
    place = _place_of_run(request, template)
    in_place = LanguageModel.objects.in_place(None if place is None else place.pk).configured()
    models = sorted(in_place, key=lambda model: (model.is_paid, model.name, model.version))
    data = request.POST if request.method == "POST" else None
    form = StartForm(data, version=version, models=models, team=place)
    context: dict[str, object] = {
        "template": template, "version": version, "form": form, "models": models,
        "power": read_power(request.actor, version),
        "all_url": f"?all=1&version={version.number}{f'&team={place.slug}' if place else ''}",
        "picker": read_picker(
            "several", chosen=form["models"].value() or [], shows_all="all" in request.GET, place=place
        ),
        "baselines": read_picker(
            "baseline", chosen=[form["baseline"].value() or ""], shows_all="all" in request.GET, place=place
        ),
        "chosen_place": place,
    }  # fmt: skip
    if data is None:
        return render(request, "benchmarks/start.html", context)
    is_valid = form.is_valid()
    if is_valid and "estimate" not in data:
        try:
            with counted_run(request.actor):
                run = form.create_run(member_of(request), version)
        except ArenaError as refusal:
            form.add_refusal(refusal)
            is_valid = False
        else:
            return redirect("benchmarks:run", run.public_id)
    if form.pairs:
        given = form.cleaned_data
        context["estimate"] = estimate(
            version, form.pairs, repeats=given.get("repeats", 1), parameters=given.get("parameters", {}),
            concurrency=given.get("concurrency", 16),
        )  # fmt: skip
    if "estimate" in data and request.htmx:
        return render(request, "benchmarks/start.html#estimate", context)
    return render(request, "benchmarks/start.html", context, status=200 if "estimate" in data else 422)
