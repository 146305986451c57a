"""Run against run, heat map and report."""

from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_POST, require_safe

from accounts.teams.places import chosen_place
from benchmarks import access, actions
from benchmarks.exports.responses import file_name
from benchmarks.models import Run
from benchmarks.reports import document, run_changes
from benchmarks.reports.heat_map import read_heat_map
from benchmarks.reports.readable import readable_reports
from benchmarks.views.pages import PageRequest
from common.errors import ArenaError

_PUBLISHED = [
    ("names", gettext_lazy("Everybody: the report, and all answers")),
    ("numbers", gettext_lazy("Everybody: the report alone, without names and prompts")),
]


class PublishForm(forms.Form):
    """number: of the report, empty for always the newest."""

    readers = forms.ChoiceField(
        label=gettext_lazy("Who may read it"), widget=forms.RadioSelect,
        choices=[("none", gettext_lazy("You alone")), *_PUBLISHED],
    )  # fmt: skip
    number = forms.TypedChoiceField(
        label=pgettext_lazy("of a run", "Report"), required=False, coerce=int, empty_value=None
    )

    def __init__(self, data: QueryDict | None = None, *, run: Run, shown: int | None = None) -> None:
        number = shown if run.published_at is None else run.published_number
        super().__init__(data, initial={"readers": _readers(run), "number": number})
        if run.team_id is not None:
            cast(forms.ChoiceField, self.fields["readers"]).choices = [("none", _("The team alone")), *_PUBLISHED]
        numbers = run.reports.order_by("number").values_list("number", flat=True)
        choices = [(stored_number, _("Report %(number)s") % {"number": stored_number}) for stored_number in numbers]
        cast(forms.TypedChoiceField, self.fields["number"]).choices = [("", _("always the newest")), *choices]


@require_safe
def compare(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a run against another one of its template."""
    run = access.get_run_or_404(request.actor, public_id)
    if not run.reports.exists():
        raise Http404
    others = run_changes.comparable_runs(request.actor, run)
    wanted = request.GET.get("with", "")
    context: dict[str, object] = {"run": run, "others": others[: run_changes.LISTED_RUNS], "wanted": wanted}
    if wanted:
        other = others.filter(public_id=wanted).first()
        if other is None:
            raise Http404
        for compared in (run, other):
            access.read_answers(request.actor, compared)
        changes = run_changes.read_changes(run, other)
        context |= {"changes": changes, "shows_contents": access.shows_contents_of(request.actor, changes.newer)}
    return render(request, "benchmarks/compare.html", context)


@require_safe
def heat_map(request: PageRequest) -> HttpResponse:
    """Show models × templates; to htmx, only the table."""
    wanted, with_average = request.GET.getlist("template"), "average" in request.GET
    place = chosen_place(request)
    result = read_heat_map(request.actor, wanted, place=place, with_average=with_average)
    choices = result.templates if not wanted else read_heat_map(request.actor, place=place).templates
    context = {
        "map": result, "choices": choices, "wanted": wanted, "with_average": with_average, "chosen_place": place,
    }  # fmt: skip
    name = "benchmarks/heatmap.html#map" if request.htmx else "benchmarks/heatmap.html"
    return render(request, name, context)


def _report_or_404(request: PageRequest, public_id: str) -> document.Report:
    run = access.get_reported_run_or_404(request.actor, public_id)
    report = document.read_run_report(run, request.actor, request.GET.get("number", ""))
    if report is None:
        raise Http404
    return report


@require_safe
def report(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a run's report, to be read or printed; to htmx, only its results."""
    shown_report = _report_or_404(request, public_id)
    if request.htmx:
        shown = {"results": shown_report.results, "is_so_far": shown_report.is_so_far}
        return render(request, "benchmarks/results.html", shown)
    reports = list(readable_reports(request.actor, shown_report.run).order_by("number").defer("payload"))
    form = PublishForm(run=shown_report.run, shown=shown_report.number)
    context = {
        "run": shown_report.run, "report": shown_report, "team": access.team_of(request.actor, shown_report.run),
        "owns": access.may_publish(request.actor, shown_report.run),
        "has_team_models": actions.has_team_models(shown_report.run),
        "is_stored": not shown_report.is_so_far,
        "is_readable": access.readable_runs(request.actor).filter(pk=shown_report.run.pk).exists(),
        "reports": reports, "publish_form": form, "number_field": form["number"] if len(reports) > 1 else None,
    }  # fmt: skip
    return render(request, "benchmarks/report.html", context)


def _readers(run: Run) -> str:
    if run.published_at is None:
        return "none"
    return "names" if run.publishes_names else "numbers"


@require_safe
def report_file(request: PageRequest, public_id: str) -> HttpResponse:
    shown_report = _report_or_404(request, public_id)
    response = HttpResponse(document.as_file(shown_report))
    name = file_name(shown_report.run, f"{shown_report.number}.html")
    response["Content-Disposition"] = str(content_disposition_header(as_attachment=True, filename=name))
    return response


@login_required
@require_POST
def publish(request: PageRequest, public_id: str) -> HttpResponse:
    run = access.get_run_to_publish_or_404(request.actor, public_id)
    form = PublishForm(request.POST, run=run)
    if not form.is_valid():
        messages.error(request, _("Choose who may read the report."))
    elif form.cleaned_data["readers"] == "none":
        actions.withdraw_run(run)
        messages.success(request, _("The run is private."))
    else:
        try:
            data = form.cleaned_data
            actions.publish_run(run, with_names=data["readers"] == "names", number=data["number"])
        except ArenaError as refusal:
            messages.error(request, refusal.detail)
        else:
            messages.success(request, _("The report is public."))
    return redirect("benchmarks:report" if run.reports.exists() else "benchmarks:run", run.public_id)
