"""New sessions and battles: who meets whom, and who pays."""

from random import SystemRandom

from django.db import transaction
from django.db.models.functions import Now

from accounts.actor import Actor
from battles import drawing, reserving
from battles.actions.turns import ask
from battles.errors import BudgetReached
from battles.labels.labelling import label
from battles.models import Battle, Position, Session, Side, Turn
from battles.pairing import Pair
from battles.prompts import accepted_prompt, title_of
from common import limits
from models_registry import roster
from models_registry.ledger import seconds_until_tomorrow
from models_registry.models import LanguageModel
from models_registry.spending import OverBudget

_random = SystemRandom()


def start_session(*, actor: Actor, prompt: str) -> Battle:
    """A new session with its first battle, which can be shown at once. Raises as start_battle does."""
    prompt = accepted_prompt(prompt)
    with transaction.atomic():
        session = Session.objects.create(
            owner_user=actor.user, owner_visitor=actor.visitor, title=title_of(prompt)
        )  # a refusal below takes the session back
        return _draw_and_open(actor, session, prompt)


def start_battle(*, actor: Actor, session: Session, prompt: str) -> Battle:
    """Draw two models for a prompt and wake a worker. The battle can be shown at once.

    Raises InvalidInput, TooManyRequests, BudgetReached, TooFewModels, and ServiceAway for visitors while limits
    cannot be counted.
    """
    with transaction.atomic():
        battle = _draw_and_open(actor, session, accepted_prompt(prompt))
        Session.objects.filter(pk=session.pk).update(last_active_at=Now())
    return battle


def _draw_and_open(actor: Actor, session: Session, prompt: str) -> Battle:
    limits.count("battle", actor.kind, actor.key, f"network:{actor.network}", fail_open=actor.user is not None)
    models = roster.drawable()
    reserving.check_allowance(actor, models, prompt)
    while True:
        pair = drawing.draw(models, _random)
        try:
            return _open_battle(actor, session, prompt, pair, {model.pk: model for model in models})
        except OverBudget as error:
            if error.is_personal:
                raise BudgetReached(retry_after=seconds_until_tomorrow()) from error
            models = [model for model in models if not error.concerns(model)]


@transaction.atomic
def _open_battle(actor: Actor, session: Session, prompt: str, pair: Pair, models: dict[int, LanguageModel]) -> Battle:
    """Raises OverBudget."""
    battle = Battle.objects.create(session=session, propensity=pair.propensity, **label([prompt]))
    sides = Side.objects.bulk_create(
        [
            Side(battle=battle, position=Position.LEFT, model=models[pair.left]),
            Side(battle=battle, position=Position.RIGHT, model=models[pair.right]),
        ]
    )
    turn = Turn.objects.create(battle=battle, index=0, prompt=prompt)
    answers = ask(turn, [turn], sides, person=actor.key)
    battle.remember(sides=sides, turns=[turn], answers=answers)
    return battle
