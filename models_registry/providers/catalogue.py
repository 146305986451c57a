"""Lists of models from all kinds of providers.

Sources, read in autumn 2026: the providers' references. OpenRouter's list has prices, contexts and abilities; those of
Mistral, Groq, vLLM, llama.cpp and Ollama have some of them; those of OpenAI, Anthropic, Gemini and LM Studio little
more than names.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import Any, TypeGuard

from django.utils.functional import Promise

from common.payload_types import Json, JsonObject
from common.text.storable import storable

MILLION = Decimal(1_000_000)
# US dollars per million tokens; a higher number cannot be a price.
MAX_PRICE = Decimal(100_000)
MAX_NAME_LENGTH, MAX_CONTEXT_LENGTH, MAX_PARAMETERS = 200, 2**31 - 1, 10**14
# Suffixes of OpenRouter's names that choose a host; its list does not contain them.
_ROUTES = re.compile(r":(nitro|floor|online|exacto|extended|thinking)$")
# An alias such as claude-haiku-5-5 means the newest dated snapshot, and lists contain only the snapshots.
_SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest)$")


class CatalogueRefused(Exception):
    """Raised if there is no list, with a sentence for administrators without text from upstream."""

    def __init__(self, sentence: str | Promise, **values: object) -> None:
        super().__init__(str(sentence) % values if values else str(sentence))


class NotACatalogue(ValueError):
    pass


@dataclass(frozen=True)
class Offer:
    """Model in a list; None, "" or () for omitted values. Prices are US dollars per million tokens."""

    upstream_name: str
    name: str = ""
    organization: str = ""
    context_length: int | None = None
    size_b: Decimal | None = None
    price_input: Decimal | None = None
    price_output: Decimal | None = None
    abilities: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    # The list says that the weights are published.
    is_open: bool = False

    @property
    def has_price(self) -> bool:
        return self.price_input is not None and self.price_output is not None

    def to_json(self) -> JsonObject:
        """Return the fields that are set, for from_json."""
        data = {name: value for name, value in vars(self).items() if value not in (None, "", ()) and value is not False}
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in data.items()}

    @classmethod
    def from_json(cls, data: JsonObject) -> "Offer":
        kinds: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(("size_b", "price_input", "price_output"), Decimal),
            **dict.fromkeys(("abilities", "other_names"), tuple),
        }
        return cls(**{name: kinds.get(name, lambda same: same)(value) for name, value in data.items()})


def parse_offers(payload: Json) -> list[Offer]:
    """Return the text models of a list, sorted by unique name. Raises NotACatalogue."""
    items = payload
    if isinstance(payload, dict):  # Ollama has `models`; llama.cpp has both, with more in `data`
        items = payload["data"] if "data" in payload else payload.get("models")
    if not isinstance(items, list):
        raise NotACatalogue
    offers: dict[str, Offer] = {}
    for item in items:
        name = _text(item, "id", "model", "name").removeprefix("models/")  # Gemini's prefix
        if name and isinstance(item, dict) and _writes_text(item):
            offers.setdefault(name, _offer(name, item))
    if items and not offers and not any(isinstance(item, dict) for item in items):
        raise NotACatalogue
    return [offers[name] for name in sorted(offers)]


def find_offer(offers: Iterable[Offer], upstream_name: str) -> Offer | None:
    """Return the offer for `upstream_name`, also if the list spells it differently."""
    wanted = upstream_name.removeprefix("models/")
    spellings = {wanted, _ROUTES.sub("", wanted), f"{wanted}:latest"}
    by_name = {name: offer for offer in offers for name in (*offer.other_names, offer.upstream_name)}
    for spelling in (wanted, *sorted(spellings - {wanted})):
        if spelling in by_name:
            return by_name[spelling]
    snapshots = [name for name in by_name if _SNAPSHOT.search(name) and _SNAPSHOT.sub("", name) == wanted]
    return by_name[max(snapshots)] if snapshots else None


def _offer(name: str, item: dict[str, Json]) -> Offer:
    # In this order: Groq, Mistral, OpenRouter, vLLM, Anthropic, llama.cpp (as started, as trained), Ollama.
    contexts = [item.get(key) for key in ("context_window", "max_context_length", "context_length", "max_model_len")]
    meta, details = _table(item, "meta"), _table(item, "details")
    contexts += [
        item.get("max_input_tokens"),
        meta.get("n_ctx"),
        meta.get("n_ctx_train"),
        details.get("context_length"),
    ]
    pricing = _table(item, "pricing")
    display_name, organization = _text(item, "name", "display_name"), _text(item, "owned_by")
    if pricing and ": " in display_name:  # OpenRouter's “DeepSeek: DeepSeek V4 Flash”
        organization, _, display_name = display_name.partition(": ")
    return Offer(
        upstream_name=name,
        name="" if display_name in (name, f"models/{name}") else display_name,
        organization=""
        if organization in ("library", "system", "llamacpp", "vllm", "organization_owner")
        else organization,
        context_length=next((n for n in contexts if _is_count(n) and n <= MAX_CONTEXT_LENGTH), None),
        size_b=_size(meta.get("n_params"), details.get("parameter_size")),
        price_input=_price(pricing.get("prompt")),
        price_output=_price(pricing.get("completion")),
        abilities=_abilities(item),
        other_names=tuple(_texts(item.get("aliases"))),
        is_open=bool(_text(item, "hugging_face_id")),
    )


def _writes_text(item: dict[str, Json]) -> bool:
    outputs = _texts(_table(item, "architecture").get("output_modalities"))
    is_chat = _table(item, "capabilities").get("completion_chat")  # Mistral
    capabilities = _texts(item.get("capabilities"))  # Ollama
    return (
        (not outputs or "text" in outputs)
        and is_chat is not False
        and item.get("active") is not False  # Groq
        and (not capabilities or "completion" in capabilities)
    )


def _abilities(item: dict[str, Json]) -> tuple[str, ...]:
    inputs = _texts(_table(item, "architecture").get("input_modalities"))
    parameters, capabilities = _texts(item.get("supported_parameters")), _texts(item.get("capabilities"))
    mistral_capabilities = _table(item, "capabilities")
    found = []
    if "image" in inputs or "vision" in capabilities or mistral_capabilities.get("vision") is True:
        found.append("images")
    if "tools" in parameters or "tools" in capabilities or mistral_capabilities.get("function_calling") is True:
        found.append("tools")
    return tuple(found)


def _price(value: Json) -> Decimal | None:
    """Return US dollars per million tokens from US dollars per token; None without a fixed price.

    Routers list a negative price if it depends on the host that they choose.
    """
    try:
        price = Decimal(str(value)) * MILLION
    except DecimalException:
        return None
    return price.quantize(Decimal("1e-6")).normalize() if price.is_finite() and 0 <= price <= MAX_PRICE else None


def _size(parameters: Json, text: Json) -> Decimal | None:
    """Return billions of parameters from llama.cpp's number or Ollama's text, such as “3.2B”."""
    if _is_count(parameters) and parameters < MAX_PARAMETERS:
        return (Decimal(parameters) / 10**9).quantize(Decimal("0.001"))
    match = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?)([BM])", text) if isinstance(text, str) else None
    if match is None:
        return None
    return (Decimal(match[1]) / (1 if match[2] == "B" else 1000)).quantize(Decimal("0.001"))


def _is_count(value: Json) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _text(item: Json, *keys: str) -> str:
    """Return the first text among these keys; "" if it is missing or too long."""
    values = [item.get(key) for key in keys] if isinstance(item, dict) else []
    text = next((value for value in values if isinstance(value, str) and value.strip()), "")
    return storable(text).strip() if len(text) <= MAX_NAME_LENGTH else ""


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _table(item: dict[str, Json], key: str) -> dict[str, Json]:
    value = item.get(key)
    return value if isinstance(value, dict) else {}
