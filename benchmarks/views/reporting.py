"""Run against run, heat map and report."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks import access
from benchmarks.reporting import run_changes
from benchmarks.reporting.heat_map import read_heat_map
from benchmarks.views.pages import PageRequest


@require_safe
def compare(request: PageRequest, public_id: str) -> HttpResponse:
    """Show a run against another one of its template."""
    run = access.get_run_or_404(request.user, public_id)
    if not run.reports.exists():
        raise Http404
    others = run_changes.comparable_runs(request.user, run)
    wanted = request.GET.get("with", "")
    context: dict[str, object] = {"run": run, "others": others[: run_changes.LISTED_RUNS], "wanted": wanted}
    if wanted:
        other = others.filter(public_id=wanted).first()
        if other is None:
            raise Http404
        changes = run_changes.read_changes(run, other)
        context |= {"changes": changes, "shows_contents": access.shows_contents_of(request.user, changes.newer)}
    return render(request, "benchmarks/compare.html", context)


@require_safe
def heat_map(request: PageRequest) -> HttpResponse:
    """Show models × templates; to htmx, only the table."""
    wanted, with_average = request.GET.getlist("template"), "average" in request.GET
    found = read_heat_map(request.user, wanted, with_average=with_average)
    choices = found.templates if not wanted else read_heat_map(request.user).templates
    context = {"map": found, "choices": choices, "wanted": wanted, "with_average": with_average}
    name = "benchmarks/heatmap.html#map" if request.htmx else "benchmarks/heatmap.html"
    return render(request, name, context)
