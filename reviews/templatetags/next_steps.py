from collections.abc import Mapping

from django import template
from django.template import Context

from accounts.actor import ActorRequest
from benchmarks.queries.listing import ListForm
from leaderboard.boards.places import BoardPlace
from leaderboard.payload_types import LeaderboardPayload
from reviews.next_steps.board_facts import board_facts
from reviews.next_steps.rules import Facts, suggest
from reviews.next_steps.run_facts import run_facts
from reviews.next_steps.sentences import Step, step_of

register = template.Library()


@register.inclusion_tag("reviews/next_steps.html")
def next_steps_of_board(board: LeaderboardPayload, place: BoardPlace) -> Mapping[str, list[Step]]:
    return _steps(board_facts(board), place)


@register.inclusion_tag("reviews/next_steps.html", takes_context=True)
def next_steps_of_runs(context: Context, form: ListForm) -> Mapping[str, list[Step]]:
    """Show what suits the place that the list is narrowed to, or the member's own."""
    request: ActorRequest = context["request"]
    member = request.actor.memberships.get(form.team) if form.team is not None else None
    place = BoardPlace() if member is None else BoardPlace(member.team)
    return _steps(run_facts(request.actor, place.team), place)


def _steps(facts: Facts, place: BoardPlace) -> Mapping[str, list[Step]]:
    return {"steps": [step_of(suggestion, place) for suggestion in suggest(facts)]}
