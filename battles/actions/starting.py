"""New sessions and battles: who meets whom, and who pays."""

from collections.abc import Sequence
from random import SystemRandom

from django.db import transaction
from django.db.models.functions import Now

from accounts.actor import Actor
from battles import attaching, reserving
from battles.actions.turns import ask
from battles.errors import BudgetReached, ModelsOverBudget
from battles.labels.labelling import label
from battles.lineups import Contest, Wish
from battles.models import Attachment, Battle, Session, Side, Turn
from battles.prompts import accepted_prompt, title_of
from common import limits
from models_registry import roster
from models_registry.ledger import seconds_until_tomorrow
from models_registry.spending import OverBudget
from uploads.models import Upload

_random = SystemRandom()
BLIND = Wish()


def start_session(*, actor: Actor, prompt: str, wish: Wish = BLIND) -> Battle:
    """A new session with its first battle, which can be shown at once. Raises as start_battle does."""
    prompt = accepted_prompt(prompt)
    with transaction.atomic():
        session = Session.objects.create(
            owner_user=actor.user, owner_visitor=actor.visitor, title=title_of(prompt)
        )  # a refusal below takes the session back
        return _line_up_and_open(actor, session, prompt, wish)


def start_battle(*, actor: Actor, session: Session, prompt: str, wish: Wish = BLIND) -> Battle:
    """Bring the models for a prompt together and wake a worker. The battle can be shown at once.

    Raises InvalidInput, NotReadYet, CannotBeRead, TooManyRequests, BudgetReached, ModelsOverBudget, TooFewModels, and
    ServiceAway for visitors while limits cannot be counted.
    """
    with transaction.atomic():
        battle = _line_up_and_open(actor, session, accepted_prompt(prompt), wish)
        Session.objects.filter(pk=session.pk).update(last_active_at=Now())
    return battle


def _line_up_and_open(actor: Actor, session: Session, prompt: str, wish: Wish) -> Battle:
    uploads = attaching.chosen_uploads(actor, wish.attachments)
    contest = Contest.of(wish, roster.drawable(), attaching.needs_of(prompt, uploads))
    limits.count("battle", actor.kind, actor.key, f"network:{actor.network}", fail_open=actor.user is not None)
    if not contest.chosen:
        reserving.check_allowance(actor, contest.pool, prompt, uploads)
    while True:
        try:
            return _open_battle(actor, session, prompt, contest, uploads)
        except OverBudget as error:
            wait = seconds_until_tomorrow()
            if error.is_personal:
                raise BudgetReached(retry_after=wait) from error
            if any(error.concerns(model) for model in contest.chosen):
                raise ModelsOverBudget(retry_after=wait) from error
            contest = contest.without(error.concerns)


@transaction.atomic
def _open_battle(actor: Actor, session: Session, prompt: str, contest: Contest, uploads: Sequence[Upload]) -> Battle:
    """Raises OverBudget, TooFewModels."""
    lineup = contest.line_up(_random)
    battle = Battle.objects.create(
        session=session, mode=contest.mode, filters=contest.filters.as_json, propensity=lineup.propensity,
        needs_images=contest.needs_images, **label([prompt], files=[Attachment.facts(upload) for upload in uploads]),
    )  # fmt: skip
    sides = Side.objects.bulk_create(
        [Side(battle=battle, position=seat.position, model=seat.model, chosen=seat.chosen) for seat in lineup.seats]
    )
    turn = Turn.objects.create(battle=battle, index=0, prompt=prompt)
    attaching.attach(turn, uploads)
    answers = ask(turn, [turn], sides, person=actor.key)
    battle.remember(sides=sides, turns=[turn], answers=answers)
    return battle
