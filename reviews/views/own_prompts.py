"""A new review of own prompts."""

from django.http import HttpResponse
from django.shortcuts import render

from benchmarks.actions.run_limit import counted_run
from benchmarks.estimates import estimate_prompts
from benchmarks.models import Run
from benchmarks.views.pages import PageRequest, member_of, place_of, redirect_to
from common.errors import ArenaError
from models_registry.models import LanguageModel
from models_registry.picking import read_picker
from reviews import actions
from reviews.forms import PromptsForm, ReviewForm
from reviews.models import Review


def new_of_prompts(request: PageRequest) -> HttpResponse:
    """Show the form, and start the run and store the draft; with `estimate`, show the cost instead."""
    place = place_of(request)
    in_place = LanguageModel.objects.in_place(None if place is None else place.pk).configured()
    models = sorted(in_place, key=lambda model: (model.is_paid, model.name, model.version))
    audience = Review.Audience.MEMBERS if place is None else Review.Audience.TEAM
    data = request.POST if request.method == "POST" else None
    form = PromptsForm(data, models=models)
    terms = ReviewForm(data, review=Review(team=place, audience=audience))
    context: dict[str, object] = {
        "prompts": form, "form": terms, "chosen_place": place,
        "all_url": f"?all=1{f'&team={place.slug}' if place else ''}",
        "picker": read_picker(
            "several", chosen=form["models"].value() or [], shows_all="all" in request.GET, place=place
        ),
    }  # fmt: skip
    if data is None:
        return render(request, "reviews/own_prompts.html", context)
    is_valid, is_estimate = form.is_valid(), "estimate" in data
    if is_valid and not is_estimate and terms.is_valid():
        values = form.cleaned_data
        try:
            with counted_run(request.actor):
                review = actions.ask_models_first(
                    owner=member_of(request), team=place, prompts=form.chosen_prompts, models=form.chosen_models,
                    budget=values["budget"], reuse_days=values["reuse_days"],
                    opens_when_done=values["opens_when_done"], **terms.terms,
                )  # fmt: skip
        except ArenaError as refusal:
            add_refusal(form, terms, refusal)
        else:
            return redirect_to(request, review.settings_url)
    if form.chosen_prompts and form.chosen_models:
        days = form.cleaned_data.get("reuse_days")
        run = Run(owner=member_of(request), team=place, reuse_days=days)
        context["estimate"], context["saved"] = estimate_prompts(run, form.chosen_models, form.chosen_prompts)
    name = "reviews/own_prompts.html#cost" if is_estimate and request.htmx else "reviews/own_prompts.html"
    return render(request, name, context, status=200 if is_estimate else 422)


def add_refusal(form: PromptsForm, terms: ReviewForm, refusal: ArenaError) -> None:
    of_terms = {name: lines for name, lines in (refusal.fields or {}).items() if name in terms.fields}
    for name, lines in of_terms.items():
        terms.add_error(name, lines)
    if not of_terms:
        form.add_refusal(refusal)
