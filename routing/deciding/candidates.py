"""Models that can answer a prompt, with what an answer is expected to cost and to take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from battles.auto.port import Alternative, RoutingRequest
from battles.prompting.messages import context_characters
from models_registry import drawable_cache
from models_registry.drawable_cache import Roster
from models_registry.energy.estimates import Architecture, architecture_of, estimate_tokens
from models_registry.models import LanguageModel
from models_registry.models.prices import Price
from models_registry.spending import COST_QUANTUM
from routing.deciding.call_medians import ALL, CallMedians, call_medians
from routing.learning.grounded import Floats

Mask = NDArray[np.bool_]

# Usual for prompts in most languages.
EXPECTED_CHARACTERS_PER_TOKEN = 4
# spending.bill reserves a token for each byte of UTF-8.
EXPECTED_BYTES_PER_CHARACTER = 4 / 3
# A fast answer comes from this share of the models, those whose first token comes earliest.
FAST_SHARE = 1 / 3
MIN_FAST = 2


@dataclass(frozen=True)
class CandidateTable:
    """Models that are set up and figures, shape (models,). Prices in US dollars per token; unknown times are NaN.

    has_price: also true for models of servers without a key, which are the operator's own.
    """

    models: Sequence[LanguageModel]
    rows: dict[str, int]
    weights: Floats
    price_in: Floats
    price_out: Floats
    has_price: Mask
    max_tokens: Floats
    context: Floats
    sees_images: Mask
    calls_tools: Mask
    first_token_ms: Floats
    tokens: dict[str, Floats]
    architectures: Sequence[Architecture | None]

    def expected_tokens(self, label: str) -> Floats:
        """Return tokens of the median answer to prompts with the label."""
        return self.tokens.get(label, self.tokens[ALL])

    def expected_costs(self, characters: int, label: str) -> Floats:
        """Return US dollars: the prompt's tokens, and the expected answer."""
        prompt = self.price_in * (characters / EXPECTED_CHARACTERS_PER_TOKEN)
        return prompt + self.price_out * self.expected_tokens(label)

    def highest_costs(self, characters: int) -> Floats:
        """Return US dollars, about what spending.bill reserves."""
        return self.price_in * (characters * EXPECTED_BYTES_PER_CHARACTER) + self.price_out * self.max_tokens


@dataclass(frozen=True)
class Candidates:
    """Models of a table that a request leaves. reasons_out: by row, why another one is out."""

    table: CandidateTable
    rows: tuple[int, ...]
    costs: Floats  # of all rows
    tokens: Floats  # of answers of all rows
    reasons_out: dict[int, str]

    @cached_property
    def models(self) -> list[LanguageModel]:
        return [self.table.models[row] for row in self.rows]

    @cached_property
    def places(self) -> dict[int, int]:
        """Return {model id: index in `models`}."""
        return {model.pk: place for place, model in enumerate(self.models)}

    def model(self, pk: int) -> LanguageModel:
        return self.models[self.places[pk]]

    @property
    def is_narrowed(self) -> bool:
        return bool(self.reasons_out)

    def without(self, rows: Iterable[int], reason: str) -> "Candidates":
        out = set(rows)
        remaining = tuple(row for row in self.rows if row not in out)
        return replace(self, rows=remaining, reasons_out=self.reasons_out | dict.fromkeys(out, reason))

    def alternative(self, row: int, **figures: float | str) -> Alternative:
        """Return the row's model with its figures."""
        wait, architecture = self.table.first_token_ms[row], self.table.architectures[row]
        energy = architecture and estimate_tokens(architecture, round(self.tokens[row]), None)
        return Alternative(
            self.table.models[row],
            cost=dollars(self.costs[row]),
            first_token_ms=None if np.isnan(wait) else int(wait),
            energy=energy and energy.as_payload(),
            **figures,  # type: ignore[arg-type]
        )

    def excluded(self, *, limit: int) -> list[Alternative]:
        listed = islice(self.reasons_out.items(), max(0, limit))
        return [self.alternative(row, reason_out=reason) for row, reason in listed]


def dollars(amount: float) -> Decimal:
    return Decimal(amount).quantize(COST_QUANTUM)


def _build_table(roster: Roster, medians: CallMedians) -> CandidateTable:
    models = roster.choosable
    prices = np.array([_dollars_per_token(model.price) for model in models]).reshape(len(models), 2)
    max_tokens = np.array([model.max_tokens for model in models], dtype=float)
    all_calls = medians.tokens.get(ALL, {})
    usual = np.array([all_calls.get(model.pk, cap / 2) for model, cap in zip(models, max_tokens, strict=True)])
    tokens = {
        label: np.array([by_model.get(model.pk, usual[row]) for row, model in enumerate(models)], dtype=float)
        for label, by_model in medians.tokens.items()
    }
    waits = [medians.first_token_ms.get(model.pk, np.nan) for model in models]
    return CandidateTable(
        models=models,
        rows={model.slug: row for row, model in enumerate(models)},
        weights=np.array([model.weight for model in models], dtype=float),
        price_in=prices[:, 0],
        price_out=prices[:, 1],
        has_price=np.array([model.price is not None or not model.provider.needs_key for model in models], dtype=bool),
        max_tokens=max_tokens,
        context=np.array([context_characters(model) for model in models], dtype=float),
        sees_images=np.array([model.sees_images for model in models], dtype=bool),
        calls_tools=np.array([LanguageModel.Ability.TOOLS in model.abilities for model in models], dtype=bool),
        first_token_ms=np.array(waits, dtype=float),
        tokens={**tokens, ALL: usual},
        architectures=[architecture_of(model) for model in models],
    )


# Table of a place's models that are set up; built anew when they or their figures change.
current_table = drawable_cache.kept_by_place(_build_table, call_medians)


def _dollars_per_token(price: Price | None) -> tuple[float, float]:
    """Return the prices of the prompt and of the answer."""
    if price is None:
        return 0.0, 0.0
    return float(price.input_per_million / Price.MILLION), float(price.output_per_million / Price.MILLION)


def candidates_for(request: RoutingRequest, label: str, *, pool: Sequence[str], budget: Decimal | None) -> Candidates:
    """Return the models with the abilities, context and money for the request, in the caller's and the rule's pools.

    label: of the query type, for the expected length of the answer.
    """
    table = current_table(request.team_id)
    characters = request.total_characters
    candidates = Candidates(
        table, tuple(range(len(table.models))), table.expected_costs(characters, label), table.expected_tokens(label),
        reasons_out={},
    )  # fmt: skip
    if request.models or pool:
        named = set(request.models or table.rows) & set(pool or table.rows)
        candidates = candidates.without([row for slug, row in table.rows.items() if slug not in named], "pool")
    if request.needs_images:
        candidates = _keep(candidates, table.sees_images, "images")
    if request.needs_tools:
        candidates = _keep(candidates, table.calls_tools, "tools")
    elif request.context.tools and table.calls_tools[list(candidates.rows)].any():
        candidates = _keep(candidates, table.calls_tools, "tools")  # the application is going to send them
    candidates = _keep(candidates, table.context >= characters, "context")
    if budget is not None:
        candidates = _keep(candidates, table.highest_costs(characters) <= float(budget), "budget")
    return candidates


def within_caps(candidates: Candidates, request: RoutingRequest, max_cost: Decimal | None) -> Candidates:
    """Return the candidates within the limits of cost and time; an unknown price or time is over a limit."""
    if max_cost is not None:
        candidates = _keep(candidates, candidates.table.has_price & (candidates.costs <= float(max_cost)), "cost")
    if request.max_first_token_ms is not None:
        with np.errstate(invalid="ignore"):
            candidates = _keep(candidates, candidates.table.first_token_ms <= request.max_first_token_ms, "first_token")
    return _fastest(candidates) if request.fast else candidates


def _fastest(candidates: Candidates) -> Candidates:
    waits = {
        row: candidates.table.first_token_ms[row]
        for row in candidates.rows
        if not np.isnan(candidates.table.first_token_ms[row])
    }
    if not waits:
        return candidates
    fastest = sorted(waits, key=lambda row: waits[row])[: max(MIN_FAST, round(len(waits) * FAST_SHARE))]
    return candidates.without([row for row in candidates.rows if row not in fastest], "not_fast")


def _keep(candidates: Candidates, mask: Mask, reason: str) -> Candidates:
    if mask.all():
        return candidates
    return candidates.without([row for row in candidates.rows if not mask[row]], reason)
