"""Checks of models file entries before anything is changed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from django.core.exceptions import ValidationError
from msgspec import field

from models_registry.config.yaml_lines import ConfigRefused, Problem, read_entries
from models_registry.energy.names import find_known
from models_registry.models import LanguageModel, ModelProfile, Price, Provider
from models_registry.providers.kinds import ProviderKind

Text = Annotated[str, msgspec.Meta(pattern=r"^[^\x00\ud800-\udfff]*\Z")]  # as common.text.storable.has_unstorable
Number = int | Annotated[float, msgspec.Meta(ge=-1e300, le=1e300)]  # neither NaN nor infinite


class ModelKeys(msgspec.Struct):
    """Fields of LanguageModel, with keys where names differ."""

    slug: Text = field(name="id")
    name: Text
    upstream_name: Text = field(name="model")
    organization: Text = ""
    status: LanguageModel.Status = LanguageModel.Status.ACTIVE
    size_b: Number | None = None
    context_length: int | None = None
    abilities: list[LanguageModel.Ability] = []
    weight: Number = 1
    aliases: list[Text] = []
    parameters: dict[str, Any] = {}
    system_prompt: Text = ""
    calls_at_once: int | None = None


class ProviderKeys(msgspec.Struct):
    """Fields of Provider in an entry. None: omitted, an existing provider keeps its value."""

    name: Text | None = field(name="provider", default=None)
    needs_key: bool | None = None
    kind: ProviderKind | None = None
    calls_at_once: int | None = field(name="provider_calls_at_once", default=None)
    daily_budget: Number | None = None
    finish_reason_required: bool | None = None
    passed_names: list[Text] | None = None
    fetches_media: bool | None = None
    server_tool_prices: dict[str, Number] | None = None
    sends_trace: bool | None = None


class DeadlineKeys(msgspec.Struct, forbid_unknown_fields=True):
    """Seconds."""

    connect_s: Number | None = field(name="connect", default=None)
    first_s: Number | None = field(name="first", default=None)
    idle_s: Number | None = field(name="idle", default=None)
    total_s: Number | None = field(name="total", default=None)


class PriceKeys(msgspec.Struct, forbid_unknown_fields=True):
    """US dollars per million tokens."""

    input_per_million: Number = field(name="input")
    output_per_million: Number = field(name="output")


class OtherKeys(msgspec.Struct):
    base_url: Text
    api_key_env: Text = ""
    license: Text = "unknown"
    license_name: Text = ""
    deadlines: DeadlineKeys = field(default_factory=DeadlineKeys)
    price: PriceKeys | None = None
    # None: a model keeps its switch and figures.
    hide_setup: bool | None = None
    active_b: Number | None = None
    energy_name: Text | None = None


def fields_by_key(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {field.encode_name: field.name for field in msgspec.structs.fields(struct)}


_KEYS = {
    field.encode_name: field for keys in (ModelKeys, ProviderKeys, OtherKeys) for field in msgspec.structs.fields(keys)
}
OPEN, PROPRIETARY, UNKNOWN = "open-source", "proprietary", "unknown"
LICENSE_KINDS = {
    OPEN: LanguageModel.LicenseKind.OPEN, PROPRIETARY: LanguageModel.LicenseKind.PROPRIETARY,
    UNKNOWN: LanguageModel.LicenseKind.UNKNOWN,
}  # fmt: skip
# Valid values by key, listed in messages about invalid ones.
_CHOICES = {
    "status": LanguageModel.Status.values, "abilities": LanguageModel.Ability.values, "kind": ProviderKind.values,
    "price": [*fields_by_key(PriceKeys)], "deadlines": [*fields_by_key(DeadlineKeys)],
}  # fmt: skip
_UNITS = {"price": " (US dollars per million tokens)", "deadlines": " (seconds)"}
# Names for the types in msgspec's messages.
_TYPES = {
    "str": "text", "bool": "true or false", "int": "a whole number", "float": "a number", "int | float": "a number",
    "array": "a list of texts", "object": "a table", "null": "nothing", "date": "a date (put it in quotes)",
    "datetime": "a time (put it in quotes)",
}  # fmt: skip


@dataclass(frozen=True)
class ModelEntry:
    """Model's entry, as fields of LanguageModel and of Provider."""

    line: int
    id: str
    base_url: str
    api_key_env: str
    provider: dict[str, Any]
    fields: dict[str, Any]
    price: Price | None
    hides_setup: bool | None
    active_b: Decimal | None
    energy_name: str | None


def check_file(text: str) -> list[ModelEntry]:
    """Return the file's entries. Raises ConfigRefused with all problems of all entries."""
    raws, problems = read_entries(text)
    entries = []
    for raw in raws:
        values = {key: value for key, value in raw.values.items() if value is not None}
        messages = list(_type_problems(values))
        if not messages:
            entry = _entry(raw.line, values)
            messages = list(_field_problems(entry, values))
            entries += [] if messages else [entry]
        for path, sentence in messages:  # a path without a line of its own, as of a list's item, has that of its key
            line = raw.lines.get(path) or raw.lines.get(re.split(r"[.[]", path)[0], raw.line)
            problems.append(Problem(line, f"{path}: {sentence}"))
    problems += _contradictions(entries)
    if problems:
        raise ConfigRefused(problems)
    return entries


def _type_problems(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (path, sentence) for unknown or missing keys and wrong types."""
    for key, value in values.items():
        if key not in _KEYS:
            yield key, f"This is not a key of a model.{_did_you_mean(key, [*_KEYS])}"
            continue
        try:
            msgspec.convert(value, _KEYS[key].type)
        except msgspec.ValidationError as error:
            message, _, position = str(error).partition(" - at `")
            if position.startswith("key"):  # a key of a table, as in {1: 2}
                yield key, "Keys must be text."
            else:
                path = f"{key}{position.removeprefix('$').rstrip('`')}"
                yield path, _translate_message(message, _CHOICES.get(key, [])) + _UNITS.get(key, "")
    yield from (
        (key, "This key is missing.") for key, field in _KEYS.items() if field.required and values.get(key, "") == ""
    )


def _translate_message(message: str, choices: list[str]) -> str:
    """Replace names of types in msgspec's message, and add the valid values."""
    message = re.sub(r" (matching regex|[<>]=) .*", " that can be stored", message)
    message = re.sub(
        r"[`'\"](.*?)(?: \| null)?[`'\"](?=\W*$|,? )", lambda match: _TYPES.get(match[1], f"“{match[1]}”"), message
    )
    word = re.search(r"(?:unknown field|enum value) “(.*)”", message)
    return f"{message}. Known: {', '.join(choices)}.{_did_you_mean(word[1], choices)}" if word else f"{message}."


def _did_you_mean(word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return f" Did you mean “{close[0]}”?" if close else ""


def _entry(line: int, values: dict[str, Any]) -> ModelEntry:
    keys = msgspec.convert(values, OtherKeys)
    fields = msgspec.structs.asdict(msgspec.convert(values, ModelKeys))
    # A licence's name instead of its kind means an open one.
    is_named = keys.license not in (OPEN, PROPRIETARY, UNKNOWN)
    fields["license"] = keys.license if is_named else keys.license_name
    fields["license_kind"] = LICENSE_KINDS.get(keys.license, LanguageModel.LicenseKind.OPEN)
    provider = msgspec.structs.asdict(msgspec.convert(values, ProviderKeys)) | msgspec.structs.asdict(keys.deadlines)
    for decided, name in ((fields, "size_b"), (provider, "daily_budget")):
        decided[name] = None if decided[name] is None else Decimal(str(decided[name]))
    prices = msgspec.structs.asdict(keys.price) if keys.price else {}
    return ModelEntry(
        line=line,
        id=fields["slug"],
        base_url=keys.base_url.rstrip("/"),
        api_key_env=keys.api_key_env,
        provider={name: value for name, value in provider.items() if value is not None},
        fields=fields,
        price=Price(**{name: Decimal(str(amount)) for name, amount in prices.items()}) if prices else None,
        hides_setup=keys.hide_setup,
        active_b=None if keys.active_b is None else Decimal(str(keys.active_b)),
        energy_name=keys.energy_name,
    )


def _field_problems(entry: ModelEntry, values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (path, sentence) for refused values and a licence with two names."""
    license, name = values.get("license"), values.get("license_name")
    if name and license not in (None, OPEN, PROPRIETARY, UNKNOWN, name):
        yield "license_name", f"The licence is already named “{license}” above."
    provider = Provider(**{"name": "?", **entry.provider}, base_url=entry.base_url, api_key_env=entry.api_key_env)
    rows: list[tuple[LanguageModel | Provider | ModelProfile | Price | None, type[msgspec.Struct], str]] = [
        (LanguageModel(family=entry.id, **entry.fields), ModelKeys, ""),
        (provider, ProviderKeys, ""),
        (ModelProfile(active_b=entry.active_b, energy_name=entry.energy_name or ""), OtherKeys, ""),
        (entry.price, PriceKeys, "price."),
    ]
    for row, keys, table in rows:
        if row is None:
            continue
        path_of = {field: f"{table}{key}" for key, field in fields_by_key(keys).items()} | {"family": "id"}
        path_of |= {field: f"deadlines.{key}" for key, field in fields_by_key(DeadlineKeys).items()}
        try:
            row.clean_fields(exclude={"provider", "model", "icon"})
        except ValidationError as error:
            for field_name, sentences in error.message_dict.items():
                yield from ((path_of.get(field_name, field_name), sentence) for sentence in sentences)
    if entry.energy_name and find_known(entry.energy_name) is None:
        yield "energy_name", "The size of no model of this name is known. Write active_b instead."


def _contradictions(entries: list[ModelEntry]) -> list[Problem]:
    """Return problems of repeated ids, and of providers with two descriptions."""
    problems: list[Problem] = []
    by_id: dict[str, ModelEntry] = {}
    providers: dict[tuple[str, str], ModelEntry] = {}
    key_of = {name: key for key, name in fields_by_key(ProviderKeys).items()}
    for entry in entries:
        first = by_id.setdefault(entry.id, entry)
        if first is not entry:
            problems.append(Problem(entry.line, f"The id “{entry.id}” is used twice (first on line {first.line})."))
        known = providers.setdefault((entry.base_url, entry.api_key_env), entry)
        for name in entry.provider.keys() & known.provider.keys():
            if entry.provider[name] != known.provider[name]:
                key = key_of.get(name, "deadlines")
                sentence = f"{key}: the same provider is described differently on line {known.line}."
                problems.append(Problem(entry.line, sentence))
    return problems


def default_provider_name(base_url: str) -> str:
    return urlsplit(base_url).hostname or "Local model"
