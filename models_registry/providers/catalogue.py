"""Lists of models from all kinds of providers, by their references of autumn 2026."""

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


# Keys of a table that hold lists.
_LISTS = ("data", "models", "results", "items", "model_list")
_PAGE_TOKENS = {"next_page_token": "page_token", "nextPageToken": "pageToken", "next_cursor": "cursor"}
# Words of types, tasks and names of models that write no answers.
_NO_CHAT = re.compile(
    r"embed|rerank|\bmoderation|\btranscri|\bspeech|\baudio\b|\bimage\b|\bvideo\b|\btts\b|\bstt\b|\bsimilarity|\bclassif",
    re.I,
)
_NO_CHAT_NAME = re.compile(
    r"embed|rerank|(?:^|[-_/:])(?:bge|gte|e5|minilm|whisper|tts|dall-e|moderation|transcribe|stable-diffusion|sora|imagen"
    r"|gpt-image)(?=[-_.:\d]|$)",
    re.I,
)
# A price below this, in a table that names no unit, is per token: none is less than a tenth of a cent per million.
_MIN_PRICE_PER_MILLION = Decimal("0.001")


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
    items = _items(payload)
    offers: dict[str, Offer] = {}
    for item in items:
        name = _text(item, "id", "model", "name", "model_name").removeprefix("models/")  # Gemini's prefix
        if name and _writes_text(name, item):
            offers.setdefault(name, _offer(name, item))
    return [offers[name] for name in sorted(offers)]


def _items(payload: Json) -> list[dict[str, Json]]:
    """Return models as tables, of a list or a table of texts or tables. Raises NotACatalogue."""
    listed = payload
    if isinstance(payload, dict):  # Ollama has `models`; llama.cpp has both, with more in `data`
        names = [name for name in _LISTS if name in payload]
        if not names:
            raise NotACatalogue
        listed = next((payload[name] for name in names if payload[name] is not None), [])
    if isinstance(listed, dict) and listed:
        listed = [{"id": name, **(item if isinstance(item, dict) else {})} for name, item in listed.items()]
    if not isinstance(listed, list):
        raise NotACatalogue
    items: list[dict[str, Json]] = [
        {"id": item} if isinstance(item, str) else item for item in listed if isinstance(item, dict | str)
    ]
    if listed and not items:
        raise NotACatalogue
    return items


@dataclass(frozen=True)
class NextPage:
    """Query of the next page; cursor is of the kind that `name` needs."""

    name: str
    cursor: str


def next_page(payload: Json) -> NextPage | None:
    """Return how to request the rest of a list; None for a whole one."""
    if not isinstance(payload, dict):
        return None
    for name, parameter in _PAGE_TOKENS.items():
        if cursor := _text(payload, name):
            return NextPage(parameter, cursor)
    if payload.get("has_more") is not True:
        return None
    items = payload.get("data")
    last = items[-1] if isinstance(items, list) and items else None
    cursor = _text(payload, "last_id") or (last if isinstance(last, str) else _text(last, "id"))
    return NextPage("after", cursor) if cursor else None


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
    # The order is Groq, Mistral, OpenRouter, vLLM, Anthropic, llama.cpp (as started, as trained), Ollama.
    contexts = [item.get(key) for key in ("context_window", "max_context_length", "context_length", "max_model_len")]
    meta, details = _table(item, "meta"), _table(item, "details")
    contexts += [
        item.get("max_input_tokens"),
        meta.get("n_ctx"),
        meta.get("n_ctx_train"),
        details.get("context_length"),
    ]
    info = _table(item, "model_info")  # LiteLLM's
    contexts += [info.get("max_input_tokens"), info.get("max_tokens"), item.get("inputTokenLimit")]
    pricing = _table(item, "pricing") or _table(_table(item, "metadata"), "pricing")
    display_name, organization = (
        _text(item, "name", "display_name", "displayName"),
        _text(item, "owned_by", "organization"),
    )
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
        price_input=_first_price(
            (pricing.get("prompt"), info.get("input_cost_per_token")),
            (pricing.get("input"), pricing.get("input_tokens")),
        ),
        price_output=_first_price(
            (pricing.get("completion"), info.get("output_cost_per_token")),
            (pricing.get("output"), pricing.get("output_tokens")),
        ),
        abilities=_abilities(item),
        other_names=tuple(_texts(item.get("aliases"))),
        is_open=bool(_text(item, "hugging_face_id")),
    )


def _writes_text(name: str, item: dict[str, Json]) -> bool:
    kinds = " ".join(
        [
            _text(item, "type"),
            _text(item, "task"),
            _text(item, "pipeline_tag"),
            _text(_table(item, "model_info"), "mode"),
        ]
    )
    endpoints = _texts(item.get("endpoints"))  # Cohere
    methods = _texts(item.get("supportedGenerationMethods"))  # Gemini's own list
    if _NO_CHAT.search(kinds) or (not kinds.strip() and _NO_CHAT_NAME.search(name)):
        return False
    if (endpoints and not {"chat", "generate"} & set(endpoints)) or (methods and "generateContent" not in methods):
        return False
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
    abilities = []
    if "image" in inputs or "vision" in capabilities or mistral_capabilities.get("vision") is True:
        abilities.append("images")
    if "tools" in parameters or "tools" in capabilities or mistral_capabilities.get("function_calling") is True:
        abilities.append("tools")
    return tuple(abilities)


def _first_price(per_token: tuple[Json, ...], per_million: tuple[Json, ...]) -> Decimal | None:
    for value in per_token:
        if value is not None:
            return _price(value)
    for value in per_million:  # Together, DeepInfra; Vercel gives prices per token under the same names
        price = _bounded_price(value, Decimal(1))
        if value is not None and price is not None:
            return _price(value) if price < _MIN_PRICE_PER_MILLION else price
    return None


def _price(value: Json) -> Decimal | None:
    """Return US dollars per million tokens from US dollars per token; None without a fixed price.

    Routers list a negative price if it depends on the host that they choose.
    """
    return _bounded_price(value, MILLION)


def _bounded_price(value: Json, factor: Decimal) -> Decimal | None:
    try:
        price = Decimal(str(value)) * factor
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
