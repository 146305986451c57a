"""What an endpoint says it serves: one reader for the lists of every kind of provider, each of which says other things.

Sources, read in autumn 2026: the providers' references of their list of models. OpenRouter says prices, contexts and
abilities; Mistral, Groq, vLLM, llama.cpp and Ollama some of it; OpenAI, Anthropic, Gemini and LM Studio little more
than names.
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
# Prices beyond this (US dollars per million tokens) are no prices.
DEAREST = Decimal(100_000)
LONGEST_NAME, LONGEST_CONTEXT, MOST_PARAMETERS = 200, 2**31 - 1, 10**14
# What follows a model's name at OpenRouter to choose among its hosts; these are not listed one by one.
_ROUTES = re.compile(r":(nitro|floor|online|exacto|extended|thinking)$")
# An alias such as claude-haiku-5-5 stands for its newest dated snapshot, and only the snapshots are listed.
_SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest)$")


class CatalogueRefused(Exception):
    """There is no list; the exception's text is a sentence for administrators that repeats nothing of upstream's."""

    def __init__(self, sentence: str | Promise, **values: object) -> None:
        super().__init__(str(sentence) % values if values else str(sentence))


class NotACatalogue(ValueError):
    """The text is JSON, but no list of models."""


@dataclass(frozen=True)
class Offer:
    """A model that an endpoint serves; None and () where it does not say. Prices are US dollars per million tokens."""

    upstream_name: str
    name: str = ""
    organization: str = ""
    context_length: int | None = None
    size_b: Decimal | None = None
    price_input: Decimal | None = None
    price_output: Decimal | None = None
    abilities: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    # Its weights are published, as far as the list says.
    is_open: bool = False

    @property
    def has_price(self) -> bool:
        return self.price_input is not None and self.price_output is not None

    def to_json(self) -> JsonObject:
        """Without what is not said; Offer.from_json reads it."""
        said = {name: value for name, value in vars(self).items() if value not in (None, "", ()) and value is not False}
        return {name: str(value) if isinstance(value, Decimal) else value for name, value in said.items()}

    @classmethod
    def from_json(cls, said: JsonObject) -> "Offer":
        kinds: dict[str, Callable[[Any], Any]] = {
            **dict.fromkeys(("size_b", "price_input", "price_output"), Decimal),
            **dict.fromkeys(("abilities", "other_names"), tuple),
        }
        return cls(**{name: kinds.get(name, lambda same: same)(value) for name, value in said.items()})


def read(payload: Json) -> list[Offer]:
    """The models of a list, by name, each once; what cannot write text is left out. Raises NotACatalogue."""
    items = payload
    if isinstance(payload, dict):  # Ollama's own list is called `models`; llama.cpp has both, and says more in `data`
        items = payload["data"] if "data" in payload else payload.get("models")
    if not isinstance(items, list):
        raise NotACatalogue
    offers: dict[str, Offer] = {}
    for item in items:
        name = _text(item, "id", "model", "name").removeprefix("models/")  # Gemini's
        if name and isinstance(item, dict) and _writes_text(item):
            offers.setdefault(name, _offer(name, item))
    if items and not offers and not any(isinstance(item, dict) for item in items):
        raise NotACatalogue
    return [offers[name] for name in sorted(offers)]


def find(offers: Iterable[Offer], upstream_name: str) -> Offer | None:
    """The offer that answers to `upstream_name`, also where the list spells it differently; None when none does."""
    asked = upstream_name.removeprefix("models/")
    spellings = {asked, _ROUTES.sub("", asked), f"{asked}:latest"}
    by_name = {name: offer for offer in offers for name in (*offer.other_names, offer.upstream_name)}
    for spelling in (asked, *sorted(spellings - {asked})):
        if spelling in by_name:
            return by_name[spelling]
    snapshots = [name for name in by_name if _SNAPSHOT.search(name) and _SNAPSHOT.sub("", name) == asked]
    return by_name[max(snapshots)] if snapshots else None


def _offer(name: str, item: dict[str, Json]) -> Offer:
    # Groq; Mistral; OpenRouter; vLLM; Anthropic; llama.cpp (what it was started with, what it was trained for); Ollama
    contexts = [item.get(key) for key in ("context_window", "max_context_length", "context_length", "max_model_len")]
    meta, details = _table(item, "meta"), _table(item, "details")
    contexts += [
        item.get("max_input_tokens"),
        meta.get("n_ctx"),
        meta.get("n_ctx_train"),
        details.get("context_length"),
    ]
    pricing = _table(item, "pricing")
    shown, organization = _text(item, "name", "display_name"), _text(item, "owned_by")
    if pricing and ": " in shown:  # OpenRouter's “DeepSeek: DeepSeek V4 Flash”
        organization, _, shown = shown.partition(": ")
    return Offer(
        upstream_name=name,
        name="" if shown in (name, f"models/{name}") else shown,
        organization=""
        if organization in ("library", "system", "llamacpp", "vllm", "organization_owner")
        else organization,
        context_length=next((n for n in contexts if _is_count(n) and n <= LONGEST_CONTEXT), None),
        size_b=_size(meta.get("n_params"), details.get("parameter_size")),
        price_input=_price(pricing.get("prompt")),
        price_output=_price(pricing.get("completion")),
        abilities=_abilities(item),
        other_names=tuple(_texts(item.get("aliases"))),
        is_open=bool(_text(item, "hugging_face_id")),
    )


def _writes_text(item: dict[str, Json]) -> bool:
    writes = _texts(_table(item, "architecture").get("output_modalities"))
    chats = _table(item, "capabilities").get("completion_chat")  # Mistral
    does = _texts(item.get("capabilities"))  # Ollama
    return (
        (not writes or "text" in writes)
        and chats is not False
        and item.get("active") is not False  # Groq
        and (not does or "completion" in does)
    )


def _abilities(item: dict[str, Json]) -> tuple[str, ...]:
    """In the words of LanguageModel.Ability."""
    reads = _texts(_table(item, "architecture").get("input_modalities"))
    takes, does = _texts(item.get("supported_parameters")), _texts(item.get("capabilities"))
    mistrals = _table(item, "capabilities")
    found = []
    if "image" in reads or "vision" in does or mistrals.get("vision") is True:
        found.append("images")
    if "tools" in takes or "tools" in does or mistrals.get("function_calling") is True:
        found.append("tools")
    return tuple(found)


def _price(said: Json) -> Decimal | None:
    """From US dollars per token, as text. A negative one means that it depends (on where a router sends the prompt)."""
    try:
        price = Decimal(str(said)) * MILLION
    except DecimalException:
        return None
    return price.quantize(Decimal("1e-6")).normalize() if price.is_finite() and 0 <= price <= DEAREST else None


def _size(parameters: Json, words: Json) -> Decimal | None:
    """Billions, from llama.cpp's number of parameters or Ollama's “3.2B”."""
    if _is_count(parameters) and parameters < MOST_PARAMETERS:
        return (Decimal(parameters) / 10**9).quantize(Decimal("0.001"))
    match = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?)([BM])", words) if isinstance(words, str) else None
    if match is None:
        return None
    return (Decimal(match[1]) / (1 if match[2] == "B" else 1000)).quantize(Decimal("0.001"))


def _is_count(said: Json) -> TypeGuard[int]:
    return isinstance(said, int) and not isinstance(said, bool) and said > 0


def _text(item: Json, *keys: str) -> str:
    """The first of these keys that has a text."""
    said = [item.get(key) for key in keys] if isinstance(item, dict) else []
    text = next((value for value in said if isinstance(value, str) and value.strip()), "")
    return storable(text).strip() if len(text) <= LONGEST_NAME else ""


def _texts(said: Json) -> list[str]:
    return [text for text in said if isinstance(text, str)] if isinstance(said, list) else []


def _table(item: dict[str, Json], key: str) -> dict[str, Json]:
    said = item.get(key)
    return said if isinstance(said, dict) else {}
