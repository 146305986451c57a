"""Money of a turn, reserved before a worker is woken: a refusal is then a response instead of a failed side."""

from collections.abc import Iterable, Mapping, Sequence

from accounts.actor import Actor
from battles.errors import BudgetReached, ModelsOverBudget
from battles.models import Side, Turn
from battles.prompting.attachments import attachment_contents, load_attachment_contents, unsaved_turn
from battles.prompting.messages import AttachmentContent, messages_for
from models_registry import spending
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import seconds_until_tomorrow
from uploads.models import Upload


def check_affordable(
    actor: Actor, models: Iterable[LanguageModel], prompt: str, uploads: Sequence[Upload] = ()
) -> None:
    """Raise BudgetReached unless the actor can pay for the two most expensive of `models`.

    Each pair drawn afterwards is then affordable: a refusal reveals nothing about it, and retrying does not favour
    cheap models.
    """
    remaining = spending.remaining_personal_budget(actor.key)
    if remaining is None:
        return
    turn, contents = [unsaved_turn(prompt, uploads)], attachment_contents(uploads)
    messages = {model: messages_for(Side(model=model), turn, context_from=0, contents=contents) for model in models}
    bills = [spending.bill(model, messages[model], person=actor.key) for model in messages]
    most_expensive = sorted((bill.most for bill in bills if bill is not None), reverse=True)[:2]
    if most_expensive and sum(most_expensive) > remaining:
        raise BudgetReached(retry_after=seconds_until_tomorrow())


def reserve_for_sides(
    turns: Iterable[Turn],
    sides: Iterable[Side],
    *,
    person: str,
    contents: Mapping[str, AttachmentContent] | None = None,
) -> dict[str, Charge]:
    """Reserve the cost of the last of `turns` for each paid side, by position; free models are left out.

    turns: all of the battle's turns, answers prefetched; not evaluated while every model is free.
    sides: with their models' providers and prices. contents: of files that are not attached yet.
    Call inside a transaction, as late as possible, because it locks the day's spending.
    Raises BudgetReached and ModelsOverBudget.
    """
    paid = [side for side in sides if side.model.is_paid]
    if not paid:
        return {}
    conversation = list(turns)
    contents = load_attachment_contents(conversation) if contents is None else contents
    billable: dict[str, Charge] = {}
    for side in paid:
        messages = messages_for(side, conversation, context_from=0, contents=contents)
        if (bill := spending.bill(side.model, messages, person=person)) is not None:
            billable[side.position] = bill
    try:
        charges = spending.reserve(list(billable.values()))
    except spending.OverBudget as error:
        wait = seconds_until_tomorrow()
        if error.is_personal:
            raise BudgetReached(retry_after=wait) from error
        raise ModelsOverBudget(retry_after=wait, reservation_error=error) from error
    return dict(zip(billable, charges, strict=True))
