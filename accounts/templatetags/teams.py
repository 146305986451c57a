from django import template
from django.conf import settings
from django.template import RequestContext
from django.urls import reverse

from accounts.access import PageRequest
from accounts.models import Team, User
from accounts.teams import places
from accounts.teams.roles import Creators
from common.errors import ArenaError

register = template.Library()


@register.simple_tag(takes_context=True)
def chosen_place(context: RequestContext) -> Team | None:
    """Return the place of the page's form, else the browser's choice; None: personal."""
    if "chosen_place" in context:
        place: Team | None = context["chosen_place"]
        return place
    request: PageRequest = context["request"]
    try:
        return places.chosen_place(request)
    except ArenaError:  # the address names a team of others; the view decides what that means
        return None


@register.simple_tag(takes_context=True)
def usable_teams(context: RequestContext) -> list[Team]:
    return places.usable_teams(context["request"].user)


@register.filter
def has_team_pages(user: User) -> bool:
    """Return whether the person is in a team, or may create one."""
    return user.is_authenticated and (user.has_teams or settings.ARENA_TEAMS == Creators.MEMBERS)


@register.simple_tag(takes_context=True)
def new_battle_url(context: RequestContext) -> str:
    """Return the start page, in the place of the shown session or form: each tab stays in its place."""
    query = context.get("place_query", "")
    if context.get("is_in_team"):
        query = f"&team={context['session'].team.slug}"
    return reverse("battles:new") + (f"?{query[1:]}" if query else "")
