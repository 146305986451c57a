"""The money of a turn, set aside before anybody is woken, so that a refusal is an answer and not a failed side."""

from collections.abc import Iterable, Sequence

from accounts.actor import Actor
from battles.errors import BudgetReached
from battles.models import Side, Turn
from battles.prompting.attachments import material_of, material_of_uploads, unsaved_turn
from battles.prompting.messages import messages_for
from models_registry import spending
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import seconds_until_tomorrow
from uploads.models import Upload


def check_allowance(actor: Actor, models: Iterable[LanguageModel], prompt: str, uploads: Sequence[Upload] = ()) -> None:
    """Raises BudgetReached unless the person can pay for the two dearest of `models`.

    Whatever pair is drawn afterwards is then affordable: a refusal tells nothing about it, and asking again
    does not favour cheap models.
    """
    rest = spending.remaining_personal_budget(actor.key)
    if rest is None:
        return
    turn, material = [unsaved_turn(prompt, uploads)], material_of_uploads(uploads)
    messages = {model: messages_for(Side(model=model), turn, context_from=0, material=material) for model in models}
    bills = [spending.bill(model, messages[model], person=actor.key) for model in messages]
    dearest = sorted((bill.most for bill in bills if bill is not None), reverse=True)[:2]
    if dearest and sum(dearest) > rest:
        raise BudgetReached(retry_after=seconds_until_tomorrow())


def set_aside(turns: Iterable[Turn], sides: Iterable[Side], *, person: str) -> dict[Side, Charge]:
    """Money for asking `sides` (their models' providers and prices at hand) the last of `turns`.

    turns: all of the battle's, answers prefetched; not asked for while every model is free. Sides whose model is
    free are left out. Inside a transaction, as late as possible. Raises OverBudget.
    """
    paid = [side for side in sides if side.model.is_paid]
    if not paid:
        return {}
    conversation = list(turns)
    material = material_of(conversation)
    messages = {side: messages_for(side, conversation, context_from=0, material=material) for side in paid}
    bills = {side: spending.bill(side.model, messages[side], person=person) for side in paid}
    sure = {side: bill for side, bill in bills.items() if bill is not None}
    return dict(zip(sure, spending.reserve(list(sure.values())), strict=True))
