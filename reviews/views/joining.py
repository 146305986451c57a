"""Joining a review, and the pages on which its owner sees its people and their codes."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import ensure_known_actor, network_limit_keys
from benchmarks.views.pages import PageRequest, member_of, redirect_to
from common.errors import ArenaError
from reviews import access
from reviews.actions import joining, people
from reviews.codes import shown_code
from reviews.evidence import find_person, read_networks, read_people
from reviews.forms import JoinForm, SetAsideForm
from reviews.models import PersonalCode, Review

PER_PAGE = 100


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: PageRequest) -> HttpResponse:
    """Show the form, with the code of the address; let the person in and lead to the review."""
    form = JoinForm(request.POST or None, initial={"code": request.GET.get("code", "")[:20]})
    status = 422 if form.is_bound else 200
    if form.is_valid():
        code, nickname = form.cleaned_data["code"], form.cleaned_data["nickname"]
        try:
            review = joining.find_by_code(code, network_limit_keys(request))
            joining.join_review(ensure_known_actor(request), review, code=code, nickname=nickname)
        except ArenaError as refusal:
            form.add_error("code", refusal.detail)
            status = refusal.http_status
        else:
            return redirect_to(request, review.get_absolute_url())
    return render(request, "reviews/join.html", {"form": form}, status=status)


@login_required
@require_safe
def show_people(request: PageRequest, public_id: str) -> HttpResponse:
    review = access.get_review_or_404(request.actor, public_id, to_change=True)
    page = Paginator(read_people(review), PER_PAGE).get_page(request.GET.get("page"))
    context = {"review": review, "page_obj": page, "people": list(page), "networks": read_networks(review)}
    return render(request, "reviews/people.html", context)


@login_required
@require_POST
def change_person(request: PageRequest, public_id: str, number: int, move: str) -> HttpResponse:
    """Set a person aside, or take them back."""
    review = access.get_review_or_404(request.actor, public_id, to_change=True)
    found = find_person(review, number)
    form = SetAsideForm(request.POST)
    if found is None or move not in ("aside", "back"):
        raise Http404
    try:
        if move == "back":
            people.take_back(found.reviewer, by=member_of(request))
        elif form.is_valid():
            because = form.cleaned_data["because"]
            people.set_aside(found.reviewer, by=member_of(request), because=because, evidence=found.as_json)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
    return redirect_to(request, review.people_url)


@login_required
@require_safe
def codes(request: PageRequest, public_id: str) -> HttpResponse:
    """Show personal codes as slips to print and cut."""
    review = access.get_review_or_404(request.actor, public_id, to_change=True)
    if review.audience != Review.Audience.CODES:
        raise Http404
    stored = PersonalCode.objects.filter(review=review).order_by("pk")
    slips = [(number, shown_code(code.code), code.used_at) for number, code in enumerate(stored, start=1)]
    context = {"review": review, "slips": slips, "join_url": request.build_absolute_uri(reverse("reviews:join"))}
    return render(request, "reviews/codes.html", context)
