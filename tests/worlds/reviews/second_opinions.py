"""Voted battles about which others are asked."""

from django.utils.safestring import SafeString

from accounts.actor import Actor
from accounts.models import Team
from battles import actions as battle_actions
from battles.models import Answer, Battle, Vote
from models_registry.models import LanguageModel
from reviews import actions
from reviews.models import Review
from reviews.second_opinions.actions import ask_others
from tests import make


def voted_battle(
    actor: Actor, *, models: tuple[LanguageModel, LanguageModel] | None = None, place: Team | None = None
) -> Battle:
    """Return a battle whose left answer the actor preferred."""
    left, right = models or (make.model(), make.model())
    battle = make.answered_battle(left, right, actor=actor, place=place)
    for answer in Answer.objects.filter(turn__battle=battle).select_related("side__model"):
        Answer.objects.filter(pk=answer.pk).update(
            text=f"answer {answer.side.position}", html=SafeString(f"<p>answer {answer.side.position}</p>"),
            call=make.stored_call(answer.side.model),
        )  # fmt: skip
    battle_actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    return Battle.objects.get(pk=battle.pk)


def asked_about(actor: Actor, **fields: object) -> Review:
    return ask_others(actor=actor, battle=voted_battle(actor, **fields))  # type: ignore[arg-type]


def prefer(person: Actor, review: Review, model: LanguageModel | None) -> Vote:
    """Vote for the model's answer, or for a tie. review: a second opinion."""
    battle = actions.next_battle(person, Review.objects.select_related("battle", "team").get(pk=review.pk))
    assert battle is not None
    sides = {side.model_id: Vote.Choice(side.position) for side in battle.sides.all()}
    choice = Vote.Choice.TIE if model is None else sides[model.pk]
    return battle_actions.cast_vote(actor=person, battle=battle, choice=choice)
