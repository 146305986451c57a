from typing import TypedDict

from django import template
from django.db.models import QuerySet
from django.utils.safestring import SafeString

from accounts.actor import Actor
from accounts.models import Team
from benchmarks.access import may_change
from benchmarks.models import Run
from common.text import markdown
from reviews import access
from reviews.models import Review

register = template.Library()

# Reviews on a team's page.
LATEST = 5


class _OfRun(TypedDict):
    """asks: whether the person may begin one."""

    listed: list[Review]
    asks: bool


@register.filter
def instructions(text: str) -> SafeString:
    return markdown.render(text)


@register.simple_tag
def reviews_of_run(run: Run, actor: Actor) -> _OfRun:
    """Return the reviews of an ended run that the person sees."""
    if run.state not in (Run.State.DONE, Run.State.CANCELLED):
        return {"listed": [], "asks": False}
    listed = access.readable_reviews(actor).filter(run=run).order_by("-created_at")
    return {"listed": list(listed), "asks": actor.user is not None and may_change(actor, run)}


@register.simple_tag
def reviews_of_team(team: Team) -> QuerySet[Review]:
    return Review.objects.filter(team=team).order_by("-created_at")[:LATEST]
