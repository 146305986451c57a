from collections.abc import Mapping
from dataclasses import replace

from django import template
from django.template import Context

from accounts.actor import Actor, ActorRequest
from accounts.models import Team
from benchmarks.queries.listing import ListForm
from leaderboard.boards.places import BoardPlace
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting.board_keys import Board
from leaderboard.errors import NoSuchBoard
from leaderboard.payload_types import LeaderboardPayload
from reviews import access
from reviews.models import Review
from reviews.next_steps.board_facts import board_facts
from reviews.next_steps.rules import Contrast, Facts, suggest
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
    facts = run_facts(request.actor, place.team)
    asked = contrasts_of_people(request.actor, place.team)
    return _steps(replace(facts, contrasts=[*facts.contrasts, *asked]), place)


def contrasts_of_people(actor: Actor, place: Team | None) -> list[Contrast]:
    """Return pairs that people did not tell apart in the newest closed review of the place."""
    closed = access.owned_reviews(actor).filter(team=place, battle=None, state=Review.State.CLOSED)
    review = closed.select_related("run").order_by("-ended_at", "-pk").first()
    if review is None or review.run is None or not access.may_manage(actor, review):
        return []
    try:
        board = read_board(BoardQuery(board=Board.of_review(review.public_id).name, series=review.public_id))
    except NoSuchBoard:
        return []
    found = board_facts(board).contrasts
    return [replace(one, unit="opinions", source=review.run.public_id) for one in found]


def _steps(facts: Facts, place: BoardPlace) -> Mapping[str, list[Step]]:
    return {"steps": [step_of(suggestion, place) for suggestion in suggest(facts)]}
