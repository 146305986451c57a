"""Money of a person and a team for blind answers, which does not depend on the models that give them: docs/adr/0063."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import NamedTuple

from battles.models import Answer, Battle, BlindCharge, Side, Turn
from battles.prompting.attachments import load_attachment_contents
from battles.prompting.lineup import Filters
from battles.prompting.messages import (
    CHARACTERS_PER_TOKEN,
    conversation_for,
    conversation_length,
    with_system_prompt,
)
from common.db.execution import is_migrated
from models_registry import drawable_cache, spending
from models_registry.models import LanguageModel, Price
from models_registry.models.ledger import member_account, person_account
from models_registry.payers import Payer
from models_registry.providers.base import Message, max_tokens_per_image
from models_registry.providers.sizes import MessagesSize

PRICE_QUANTUM = Decimal("1e-10")


class _Rate(NamedTuple):
    """Facts of a paid model that decide what a call may cost. system_tokens: of its system prompt.

    site_pays: False for a team's own model.
    """

    price: Price
    image_tokens: int
    system_tokens: int
    max_tokens: int
    site_pays: bool

    @classmethod
    def of(cls, model: LanguageModel) -> "_Rate | None":
        price = model.price
        if price is None or not price.is_above_zero:
            return None
        image = max_tokens_per_image(model.upstream_name)
        system = spending.max_tokens_in(MessagesSize.of(with_system_prompt(model, [])), image=image)
        return cls(price, image, system, model.max_tokens, model.provider.team_id is None)


def _read_rates(roster: drawable_cache.Roster) -> dict[int, _Rate]:
    return {model.pk: rate for model in roster.choosable if (rate := _Rate.of(model)) is not None}


# Quotes by model id; those of thousands of models take long.
_rates = drawable_cache.kept_by_place(_read_rates)


def _rates_of(models: Iterable[LanguageModel], team_id: int | None) -> list[_Rate]:
    rates = _rates(team_id)
    return [rates[model.pk] for model in models if model.pk in rates]


class MeanPrice(NamedTuple):
    """US dollars per million characters."""

    input: Decimal
    output: Decimal

    @classmethod
    def of(cls, rates: Sequence[_Rate], *, among: int) -> "MeanPrice":
        """among: number of models; those without a rate are free."""
        characters = among * CHARACTERS_PER_TOKEN
        return cls(
            (sum((rate.price.input_per_million for rate in rates), Decimal(0)) / characters).quantize(PRICE_QUANTUM),
            (sum((rate.price.output_per_million for rate in rates), Decimal(0)) / characters).quantize(PRICE_QUANTUM),
        )


@dataclass(frozen=True)
class BlindQuote:
    """Prices and reservations of a turn. characters, reservations: of each side, in order.

    site_pays: whether one of the models that could be drawn is the site's.
    """

    price: MeanPrice
    characters: Sequence[int]
    reservations: Sequence[Decimal]
    site_pays: bool = True

    @property
    def total(self) -> Decimal:
        """Return US dollars."""
        return sum(self.reservations, Decimal(0))

    def store(self, answers: Iterable[Answer], payer: Payer) -> None:
        """Insert the charges of new answers."""
        account = person_account(payer.person)
        if payer.team is not None and not self.site_pays:
            account = member_account(payer.team.pk, payer.person)
        BlindCharge.objects.bulk_create(
            BlindCharge(
                answer=answer, day=payer.day, account=account, most=reservation,
                team=payer.team, month=payer.month if payer.team else None,
                prompt_characters=characters, input_price=self.price.input, output_price=self.price.output,
            )
            for answer, characters, reservation in zip(answers, self.characters, self.reservations, strict=True)
        )  # fmt: skip


def quote_battle(
    models: Sequence[LanguageModel], conversation: Sequence[Message], *, team_id: int | None = None
) -> BlindQuote | None:
    """Return the quote for both sides of a new battle; None if all models are free.

    models: those that could be drawn in the team's place.
    """
    rates = _rates_of(models, team_id)
    if not rates or not is_migrated(BlindCharge):
        return None
    return _quote(rates, [conversation, conversation], MeanPrice.of(rates, among=len(models)))


def quote_turn(battle: Battle, turns: Iterable[Turn], sides: Iterable[Side]) -> BlindQuote | None:
    """Return the quote for these sides of the last of `turns`, at the prices of the battle's beginning."""
    models = _models_for(battle)
    rates = _rates_of(models, battle.session.team_id)
    if not rates or not is_migrated(BlindCharge):
        return None
    turns = list(turns)
    contents = load_attachment_contents(turns)
    conversations = [conversation_for(side, turns, context_from=0, contents=contents) for side in sides]
    return _quote(rates, conversations, _price_at_beginning(battle) or MeanPrice.of(rates, among=len(models)))


def _models_for(battle: Battle) -> list[LanguageModel]:
    """Return the models that could be drawn for the battle now."""
    filters = Filters(**battle.filters)
    return [
        model
        for model in drawable_cache.roster_of(battle.session.team_id).payable
        if filters.matches(model) and (model.sees_images or not battle.needs_images)
    ]


def _price_at_beginning(battle: Battle) -> MeanPrice | None:
    """Return the price of the first turn that had one."""
    charges = BlindCharge.objects.filter(answer__turn__battle=battle).order_by("pk")
    prices = charges.values_list("input_price", "output_price").first()
    return None if prices is None else MeanPrice(*prices)


def _quote(rates: Sequence[_Rate], conversations: Sequence[Sequence[Message]], price: MeanPrice) -> BlindQuote:
    """Reserve equal shares of the maximum cost of calls to the most expensive models, one for each conversation."""
    sizes = [MessagesSize.of(messages) for messages in conversations]
    tokens = {
        image: max(spending.max_tokens_in(size, image=image) for size in sizes)
        for image in {rate.image_tokens for rate in rates}
    }
    costs = sorted(
        spending.max_cost(
            rate.price, prompt_tokens=tokens[rate.image_tokens] + rate.system_tokens, max_tokens=rate.max_tokens
        )
        for rate in rates
    )
    sides = len(conversations)
    total = sum(costs[-sides:], Decimal(0))
    share = (total / sides).quantize(spending.COST_QUANTUM, ROUND_DOWN)
    reservations = [total - share * (sides - 1), *[share] * (sides - 1)]
    site_pays = any(rate.site_pays for rate in rates)
    return BlindQuote(price, list(map(conversation_length, conversations)), reservations, site_pays)
