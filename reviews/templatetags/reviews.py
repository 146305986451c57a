from collections.abc import Sequence
from typing import TypedDict

from django import template
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.actor import Actor
from accounts.models import Team
from battles.models import Session
from benchmarks.access import may_change
from benchmarks.models import Judge, Run
from common.text import markdown
from common.text.numbers import two_decimals
from reviews import access
from reviews.agreement.payload_types import AgreementPayload, WithPeoplePayload
from reviews.agreement.payloads import agreement_payload, with_people_payload
from reviews.agreement.results import read_judges_with_people
from reviews.models import Review

register = template.Library()
register.filter(two_decimals)

# Reviews on a team's page, runs on a judge's.
LATEST = 5


class _OfRun(TypedDict):
    """asks: whether the person may begin one."""

    listed: list[Review]
    asks: bool


class _OnPeople(TypedDict):
    """A judge beside people. people: with each other. review: the latest closed one. disagreements: a path."""

    judge: WithPeoplePayload
    people: AgreementPayload | None
    review: Review
    disagreements: str


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
def second_opinions(session: Session, actor: Actor) -> dict[str, int]:
    """Return numbers of opinions by ids of the member's battles about which others are asked."""
    if actor.user is None:
        return {}
    asked = Review.objects.filter(battle__session=session).exclude(state=Review.State.WITHDRAWN)
    return dict(asked.values_list("battle__public_id", "items__opinions"))


@register.filter
def on_battle(opinions: dict[str, int] | str, public_id: str) -> int | None:
    """opinions: "" outside of the session's page."""
    return opinions.get(public_id) if isinstance(opinions, dict) else None


@register.simple_tag
def reviews_of_team(team: Team) -> QuerySet[Review]:
    return Review.objects.filter(team=team, battle=None).order_by("-created_at")[:LATEST]


@register.simple_tag
def judge_with_people(run: Run, judge: Judge) -> _OnPeople | None:
    """Return how a judge of the run agrees with people; None where they have no answers in common."""
    found = read_judges_with_people(run, [judge]).get(judge.pk)
    if found is None:
        return None
    return {
        "judge": with_people_payload(found.comparison),
        "people": None if found.people is None else agreement_payload(found.people),
        "review": found.reviews[0],
        "disagreements": reverse("reviews:disagreements", args=[found.reviews[0].public_id, judge.public_id]),
    }


@register.simple_tag
def judge_on_runs(judge: Judge, runs: Sequence[Run]) -> list[tuple[Run, _OnPeople]]:
    """Return the latest runs on which the judge shares answers with people."""
    reviewed = set(Review.objects.filter(run__in=runs).closed().values_list("run", flat=True))
    latest = [run for run in runs if run.pk in reviewed][:LATEST]
    return [(run, found) for run in latest if (found := judge_with_people(run, judge)) is not None]
