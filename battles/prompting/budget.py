"""Money of a turn, reserved before a worker is woken: a refusal is then a response instead of a failed side."""

from collections.abc import Iterable, Mapping

from accounts.actor import Actor
from battles.errors import BudgetReached, ModelsOverBudget
from battles.models import Side, Turn
from battles.prompting.attachments import load_attachment_contents
from battles.prompting.blind_quotes import BlindQuote
from battles.prompting.messages import AttachmentContent, messages_for
from models_registry import spending
from models_registry.models import Charge
from models_registry.models.ledger import seconds_until_tomorrow


def check_affordable(actor: Actor, quote: BlindQuote) -> None:
    """Raise BudgetReached unless the actor can pay for any pair that may be drawn.

    A refusal reveals nothing about the pair, and retrying does not favour cheap models.
    """
    remaining = spending.remaining_personal_budget(actor.key)
    if remaining is not None and quote.total > remaining:
        raise BudgetReached(retry_after=seconds_until_tomorrow())


def reserve_for_sides(
    turns: Iterable[Turn],
    sides: Iterable[Side],
    *,
    person: str,
    quote: BlindQuote | None = None,
    contents: Mapping[str, AttachmentContent] | None = None,
) -> dict[str, Charge]:
    """Reserve the cost of the last of `turns` for each paid side, by position; free models are left out.

    turns: all of the battle's turns, answers prefetched; not evaluated while every model is free.
    sides: with their models' providers and prices. quote: of blind answers; their person pays it instead of the costs.
    contents: of files that are not attached yet.
    Call inside a transaction, as late as possible, because it locks the day's spending.
    Raises BudgetReached and ModelsOverBudget.
    """
    paid = [side for side in sides if side.model.is_paid]
    if not paid and quote is None:
        return {}
    billable: dict[str, Charge] = {}
    if paid:
        conversation = list(turns)
        contents = load_attachment_contents(conversation) if contents is None else contents
        for side in paid:
            messages = messages_for(side, conversation, context_from=0, contents=contents)
            if (bill := spending.bill(side.model, messages, person="" if quote else person)) is not None:
                billable[side.position] = bill
    of_persons = {person: quote.total} if quote else {}
    try:
        charges = spending.reserve(list(billable.values()), of_persons=of_persons)
    except spending.OverBudget as error:
        wait = seconds_until_tomorrow()
        if error.is_personal:
            raise BudgetReached(retry_after=wait) from error
        raise ModelsOverBudget(retry_after=wait, reservation_error=error) from error
    return dict(zip(billable, charges, strict=True))
