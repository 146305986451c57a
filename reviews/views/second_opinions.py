"""Pages of second opinions: the owner's, and those of the people who are asked."""

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from battles.queries import find_battle
from benchmarks.views.pages import PageRequest, redirect_to
from reviews import access
from reviews.errors import CannotAskOthers
from reviews.models import Review
from reviews.queries import read_own
from reviews.second_opinions.actions import MAX_PEOPLE, ask_others, find, reason_against
from reviews.second_opinions.queries import read_spread, site_agreement


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: PageRequest, public_id: str) -> HttpResponse:
    """Show the owner of a battle the link and the answers so far; POST makes the link."""
    battle = find_battle(request.actor, public_id)
    if battle is None:
        raise Http404
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    status, refusal = 200, ""
    if request.method == "POST":
        try:
            ask_others(actor=request.actor, battle=battle)
            return redirect_to(request, reverse("reviews:second_opinion", args=[battle.public_id]))
        except CannotAskOthers as error:
            status, refusal = error.http_status, error.detail
    review = find(battle)
    context: dict[str, object] = {
        "battle": battle,
        "review": review,
        "most": MAX_PEOPLE,
        "refusal": refusal or (reason_against(battle) if review is None else ""),
    }
    if review is not None:
        context |= {"spread": read_spread(review), "on_site": site_agreement()}
    return render(request, "reviews/second_opinions/owner.html", context, status=status)


def invitation(request: PageRequest, review: Review) -> HttpResponse:
    """Render the address that the owner gives to others."""
    context = {
        "review": review,
        "is_asked": access.belongs_to_audience(request.actor, review),
        "is_maker": access.is_maker(request.actor, review),
        "has_voted": bool(read_own(request.actor, review).voted),
        "knows": access.knows_answers(request.actor, review),
        "shows_results": access.shows_results(request.actor, review),
        "is_done": "done" in request.GET,
    }
    return render(request, "reviews/second_opinions/invitation.html", context)


def spread(request: PageRequest, review: Review) -> HttpResponse:
    shown = access.shows_results(request.actor, review)
    context: dict[str, object] = {"review": review, "is_maker": access.is_maker(request.actor, review)}
    if shown:
        context |= {"spread": read_spread(review), "on_site": site_agreement()}
    return render(request, "reviews/second_opinions/results.html", context)
