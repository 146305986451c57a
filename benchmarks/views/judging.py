"""Judgings of a run: their start, results, and judgements side by side."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks import access, streaming
from benchmarks.actions.run_limit import counted_run
from benchmarks.exports.judgements import judgements_response
from benchmarks.forms.judging import JudgingForm
from benchmarks.judges import judgements as judged
from benchmarks.judges.estimates import estimate_judging
from benchmarks.judges.on_run import left_out_rows, read_judges, read_styled
from benchmarks.judges.overview import judge_rows, judges_on
from benchmarks.views.pages import PageRequest, member_of
from common.errors import ArenaError
from common.tables.writers import WRITERS


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the form and start a judging; with `estimate`, show its cost instead."""
    run = access.get_judged_run_or_404(request.actor, public_id, to_judge=True)
    own = access.readable_judges(request.actor).filter(team=run.team_id, archived_at=None)
    judges = list(own.select_related("model").order_by("-created_at", "-pk"))
    data = request.POST if request.method == "POST" else None
    form = JudgingForm(data, subject=run, judges=judges, wanted=request.GET.get("judge", ""))
    context: dict[str, object] = {"run": run, "form": form}
    if data is None:
        return render(request, "benchmarks/judges/start.html", context)
    is_valid = form.is_valid()
    if is_valid and "estimate" not in data:
        try:
            with counted_run(request.actor):
                form.start(member_of(request))
        except ArenaError as refusal:
            form.add_refusal(refusal)
            is_valid = False
        else:
            return redirect("benchmarks:judgements", run.public_id)
    if (wanted := form.request()) is not None:
        try:
            context["estimate"] = estimated = estimate_judging(wanted.judging())
            context["left_out"] = left_out_rows(estimated.left_out)
        except ArenaError as refusal:
            context["problems"] = [refusal.detail]
    if "estimate" in data and request.htmx:
        return render(request, "benchmarks/judges/start.html#estimate", context)
    return render(request, "benchmarks/judges/start.html", context, status=200 if "estimate" in data else 422)


@login_required
@require_safe
def results(request: PageRequest, public_id: str) -> HttpResponse:
    """Show what judges say of a run; to htmx, only what changes, or the numbers for the run's own page."""
    run = access.get_judged_run_or_404(request.actor, public_id)
    judges = read_judges(run)
    context: dict[str, object] = {
        "run": run, "judges": judges, "may_judge": access.may_change(request.actor, run),
        "after": streaming.position_now(),
        "stream": streaming.token_for(judges.working.run, request.actor) if judges.working else "",
    }  # fmt: skip
    wanted = request.GET.get("styled", "")
    judge = next((judge for judge in judges_on(run) if judge.public_id == wanted), None) if wanted else None
    if judge is not None:
        context |= {"styled": read_styled(run, judge), "styled_judge": wanted}
    if not request.htmx:
        return render(request, "benchmarks/judges/results.html", context)
    part = "numbers" if request.GET.get("part") == "numbers" else "live"
    return render(request, f"benchmarks/judges/results.html#{part}", context)


@login_required
@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    run = access.get_judged_answers_or_404(request.actor, public_id)
    if ending not in WRITERS:
        raise Http404
    return judgements_response(run, ending, actor=request.actor)


@login_required
@require_safe
def judgements(request: PageRequest, public_id: str, judge_id: str) -> HttpResponse:
    """Show pairs and what the judge said of them; without names unless they are wanted."""
    run = access.get_judged_answers_or_404(request.actor, public_id)
    judge = next((judge for judge in judges_on(run) if judge.public_id == judge_id), None)
    if judge is None:
        raise Http404
    only = request.GET.get("only", "")
    only = only if only in judged.FILTERS else ""
    page = Paginator(judged.judged_keys(judge, run, only), judged.PER_PAGE).get_page(request.GET.get("page"))
    [row] = judge_rows([judge])
    context = {
        "run": run, "judge": judge, "row": row, "only": only, "page_obj": page,
        "pairs": judged.read_pairs(judge, run, list(page)), "shows_names": request.GET.get("names") == "shown",
    }  # fmt: skip
    return render(request, "benchmarks/judges/judgements.html", context)
