"""The queue of answers that a person grades."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.actor import ensure_known_actor
from benchmarks.views.pages import PageRequest, redirect_to
from common.errors import ArenaError, NotAllowed
from reviews import access, actions
from reviews.errors import AlreadyGraded, NoSuchGrade
from reviews.forms import GradeForm
from reviews.grading.showing import find_held, read_shown
from reviews.models import Review
from reviews.queries import read_own


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def grade(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the answer that waits for the person's grade; store a grade and go on with the next answer."""
    review = access.get_review_or_404(request.actor, public_id)
    if not review.is_graded:
        raise Http404
    if not access.belongs_to_audience(request.actor, review):
        raise NotAllowed
    if request.method == "POST":
        return _graded(request, review)
    drawn = find_held(request.actor, review) if request.actor.is_known and review.takes_votes else None
    if drawn is None:
        return redirect_to(request, review.get_absolute_url())
    context = {
        "review": review, "shown": read_shown(drawn), "own": read_own(request.actor, review),
        "knows": bool(drawn.excluded_reason),
    }  # fmt: skip
    return render(request, "reviews/grade.html", context)


def _graded(request: PageRequest, review: Review) -> HttpResponse:
    form = GradeForm(request.POST)
    try:
        if not form.is_valid():
            raise NoSuchGrade
        data = form.cleaned_data
        actions.grade_answer(request.actor, review, data["answer"], data["value"])
    except AlreadyGraded:
        pass  # a second press of the key or button
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
    return to_next_answer(request, review)


def to_next_answer(request: PageRequest, review: Review) -> HttpResponse:
    try:
        drawn = actions.next_answer(ensure_known_actor(request), review)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
        return redirect_to(request, review.get_absolute_url())
    if drawn is None:
        return redirect_to(request, f"{review.get_absolute_url()}?done")
    return redirect_to(request, reverse("reviews:grade", args=[review.public_id]))
