"""Request type and helpers of every benchmark page."""

from typing import cast

from django.http import HttpResponse, HttpResponseRedirect
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from accounts.actor import ActorRequest
from accounts.models import Team, User
from accounts.teams.places import chosen_place, place_of_form


class PageRequest(ActorRequest):
    htmx: HtmxDetails


def member_of(request: PageRequest) -> User:
    """Return the member of a view that requires one."""
    return cast(User, request.user)


def place_of(request: PageRequest) -> Team | None:
    """Return the place that the form, else the address, else the browser names. Raises NotFound, NotAllowed."""
    return place_of_form(request) if request.method == "POST" else chosen_place(request)


def redirect_to(request: PageRequest, url: str) -> HttpResponse:
    """Return a redirect that browsers and htmx follow."""
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url, status=303)
