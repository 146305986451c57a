from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from benchmarks import access
from benchmarks.actions.run_limit import counted_run
from benchmarks.estimates import estimate
from benchmarks.forms.start import StartForm
from benchmarks.reports.power import read_power
from benchmarks.views.pages import PageRequest, member_of
from common.errors import ArenaError
from models_registry.models import LanguageModel


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the form and start a run; with `estimate`, show its cost instead."""
    template = access.get_template_or_404(request.actor, public_id)
    version = access.find_version(request.actor, template, request.GET.get("version"))
    if version is None:
        raise Http404
    models = sorted(LanguageModel.objects.configured(), key=lambda model: (model.is_paid, model.name, model.version))
    data = request.POST if request.method == "POST" else None
    form = StartForm(data, version=version, models=models)
    context: dict[str, object] = {
        "template": template, "version": version, "form": form, "models": models,
        "power": read_power(request.actor, version),
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
