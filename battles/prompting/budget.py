"""Money of a turn, reserved before a worker is woken: a refusal is then a response instead of a failed side."""

from collections.abc import Iterable, Mapping

from battles.errors import ModelsOverBudget, budget_reached
from battles.models import Side, Turn
from battles.prompting.attachments import load_attachment_contents
from battles.prompting.blind_quotes import BlindQuote
from battles.prompting.messages import AttachmentContent, messages_for
from models_registry import spending
from models_registry.models import Charge
from models_registry.models.ledger import seconds_until_tomorrow
from models_registry.payers import Payer


def check_affordable(payer: Payer, quote: BlindQuote) -> None:
    """Raise BudgetReached unless person and team can pay for any pair that may be drawn.

    A refusal reveals nothing about the pair, and retrying does not favour cheap models.
    """
    if account := payer.refusing_account(payer.shares(quote.total, site_pays=quote.site_pays)):
        raise budget_reached(payer, account)


def reserve_for_sides(
    turns: Iterable[Turn],
    sides: Iterable[Side],
    *,
    payer: Payer,
    quote: BlindQuote | None = None,
    contents: Mapping[str, AttachmentContent] | None = None,
) -> dict[str, Charge]:
    """Reserve the cost of the last of `turns` for each paid side, by position; free models are left out.

    turns: all of the battle's turns, answers prefetched; not evaluated while every model is free.
    sides: with their models' providers and prices. quote: of blind answers; the payer pays it instead of the costs.
    contents: of files that are not attached yet.
    Call inside a transaction, as late as possible, because it locks the day's spending.
    Raises BudgetReached and ModelsOverBudget.
    """
    paid = [side for side in sides if side.model.is_paid]
    shares = payer.shares(quote.total, site_pays=quote.site_pays) if quote else payer.request()
    if not paid and not shares:
        return {}
    billable: dict[str, Charge] = {}
    if paid:
        conversation = list(turns)
        contents = load_attachment_contents(conversation) if contents is None else contents
        for side in paid:
            messages = messages_for(side, conversation, context_from=0, contents=contents)
            bill = spending.bill(
                side.model, messages, person=payer.person, team_id=payer.team_id, is_quoted=quote is not None
            )
            if bill is not None:
                billable[side.position] = bill
    try:
        charges = spending.reserve(list(billable.values()), shares=shares)
    except spending.OverBudget as error:
        if error.is_payers:
            raise budget_reached(payer, error.account) from error
        raise ModelsOverBudget(retry_after=seconds_until_tomorrow(), reservation_error=error) from error
    return dict(zip(billable, charges, strict=True))
