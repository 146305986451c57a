"""What an entry of the models file may say, checked completely before anything is changed."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError

from common.text.storable import has_unstorable
from models_registry.config.yaml_lines import ConfigRefused, Problem, RawEntry, read_entries
from models_registry.models import LanguageModel, Price, Provider
from models_registry.providers.kinds import ProviderKind

KINDS = {
    "id": "text", "name": "text", "provider": "text", "model": "text", "base_url": "text",
    "api_key_env": "text", "needs_key": "true or false", "organization": "text",
    "license": "text", "license_name": "text", "status": "text", "size_b": "a number",
    "context_length": "a whole number", "abilities": "a list of texts", "price": "a table",
    "weight": "a number", "aliases": "a list of texts", "parameters": "a table", "system_prompt": "text",
    "kind": "text", "deadlines": "a table", "calls_at_once": "a whole number",
    "provider_calls_at_once": "a whole number", "daily_budget": "a number", "finish_reason_required": "true or false",
}  # fmt: skip
REQUIRED = ("id", "name", "model", "base_url")
PRICE_KEYS = {"input": "input_per_million", "output": "output_per_million"}
# Where a key ends up: the fields of LanguageModel that are taken over as they are said.
MODEL_FIELDS = {
    "id": "slug", "name": "name", "model": "upstream_name", "organization": "organization",
    "status": "status", "size_b": "size_b", "context_length": "context_length", "abilities": "abilities",
    "weight": "weight", "aliases": "aliases", "parameters": "parameters", "system_prompt": "system_prompt",
    "calls_at_once": "calls_at_once",
}  # fmt: skip
# The same for Provider.
PROVIDER_FIELDS = {
    "provider": "name", "needs_key": "needs_key", "kind": "kind", "provider_calls_at_once": "calls_at_once",
    "daily_budget": "daily_budget", "finish_reason_required": "finish_reason_required",
}  # fmt: skip
DEADLINES = {"connect": "connect_s", "first": "first_s", "idle": "idle_s", "total": "total_s"}
OPEN, PROPRIETARY = "open-source", "proprietary"


@dataclass(frozen=True)
class ModelEntry:
    """One model as the file wants it.

    `fields`: every field of LanguageModel the file decides, by name; `provider`: what it says of Provider's.
    """

    line: int
    id: str
    base_url: str
    api_key_env: str
    provider: dict[str, Any]
    fields: dict[str, Any]
    price: Price | None


@dataclass
class _Check:
    """An entry being checked: what it says, and what is wrong with it."""

    raw: RawEntry
    problems: list[Problem] = field(default_factory=list)

    def said(self, key: str, default: Any = None) -> Any:
        value = self.raw.values.get(key)
        return default if value is None else value

    def complain(self, key: str, sentence: str) -> None:
        self.problems.append(Problem(self.raw.lines.get(key, self.raw.line), sentence))


def check_file(text: str) -> list[ModelEntry]:
    """Every entry of the models file. Raises ConfigRefused with everything that is wrong with any of them."""
    raws, problems = read_entries(text)
    entries = []
    for raw in raws:
        check = _Check(raw)
        entry = _check_entry(check)
        problems += check.problems
        if entry is not None:
            entries.append(entry)
    problems += _contradictions(entries)
    if problems:
        raise ConfigRefused(problems)
    return entries


def _check_entry(check: _Check) -> ModelEntry | None:
    _check_keys(check)
    if check.problems:
        return None
    fields = _defaults() | {name: check.said(key) for key, name in MODEL_FIELDS.items() if check.said(key) is not None}
    fields["license"], fields["license_kind"] = _license(check)
    if fields["size_b"] is not None:
        fields["size_b"] = Decimal(str(fields["size_b"]))
    base_url = check.said("base_url").rstrip("/")
    entry = ModelEntry(
        line=check.raw.line,
        id=fields["slug"],
        base_url=base_url,
        api_key_env=check.said("api_key_env", ""),
        provider=_provider(check),
        fields=fields,
        price=_price(check),
    )
    _check_fields(check, LanguageModel(family=entry.id, **fields), {v: k for k, v in MODEL_FIELDS.items()})
    provider = Provider(**{"name": "?", **entry.provider}, base_url=base_url, api_key_env=entry.api_key_env)
    key_of = {name: key for key, name in PROVIDER_FIELDS.items()}
    _check_fields(check, provider, key_of | {v: f"deadlines.{k}" for k, v in DEADLINES.items()})
    return None if check.problems else entry


def _defaults() -> dict[str, Any]:
    fields = {
        field.name: field.get_default()
        for field in LanguageModel._meta.concrete_fields
        if field.name in MODEL_FIELDS.values()
    }
    return fields | {"status": LanguageModel.Status.ACTIVE}


def _check_keys(check: _Check) -> None:
    for key, value in check.raw.values.items():
        if key not in KINDS:
            check.complain(key, f"“{key}” is not a key of a model.{_did_you_mean(key, list(KINDS))}")
        elif value is not None and not _is(KINDS[key], value):
            check.complain(key, f"{key}: this must be {KINDS[key]}.")
    for key in REQUIRED:
        if check.said(key, "") == "":
            check.complain(key, f"“{key}” is missing.")
    for key, choices in (
        ("status", LanguageModel.Status.values),
        ("abilities", LanguageModel.Ability.values),
        ("kind", ProviderKind.values),
    ):
        value = check.said(key, [])
        for word in [value] if isinstance(value, str) else value if isinstance(value, list) else []:
            if isinstance(word, str) and word not in choices:
                known = ", ".join(choices)
                check.complain(key, f"{key}: “{word}” is not one of {known}.{_did_you_mean(word, choices)}")


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "text":
            return isinstance(value, str) and not has_unstorable(value)
        case "true or false":
            return isinstance(value, bool)
        case "a whole number":
            return isinstance(value, int) and not isinstance(value, bool)
        case "a number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "a list of texts":
            return isinstance(value, list) and all(_is("text", item) for item in value)
    return isinstance(value, dict)


def _did_you_mean(word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, n=1)
    return f" Did you mean “{close[0]}”?" if close else ""


def _provider(check: _Check) -> dict[str, Any]:
    said = {name: check.said(key) for key, name in PROVIDER_FIELDS.items()}
    if said["daily_budget"] is not None:
        said["daily_budget"] = Decimal(str(said["daily_budget"]))
    for key, seconds in check.said("deadlines", {}).items():
        where = f"deadlines.{key}"
        if key not in DEADLINES:
            check.complain(where, f"deadlines: “{key}” is not one of {', '.join(DEADLINES)}.")
        elif not _is("a number", seconds):
            check.complain(where, f"deadlines: {key} must be a number (seconds).")
        else:
            said[DEADLINES[key]] = float(seconds)
    return {name: value for name, value in said.items() if value is not None}


def _license(check: _Check) -> tuple[str, str]:
    """The licence's name and kind. A licence said by its name is one under which weights are published."""
    said, name = check.said("license", PROPRIETARY), check.said("license_name", "")
    if said == PROPRIETARY:
        return name, LanguageModel.LicenseKind.PROPRIETARY
    if said != OPEN and name and name != said:
        check.complain("license_name", f"license_name: the licence is already named “{said}” above.")
    return (name if said == OPEN else said), LanguageModel.LicenseKind.OPEN


def _price(check: _Check) -> Price | None:
    said = check.said("price")
    if said is None:
        return None
    amounts = {}
    for key in {*said, *PRICE_KEYS}:
        where = f"price.{key}" if key in said else "price"
        if key not in PRICE_KEYS:
            check.complain(where, f"price: “{key}” is not input or output.")
        elif key not in said:
            check.complain(where, f"price: “{key}” is missing (US dollars per million tokens).")
        elif not _is("a number", said[key]):
            check.complain(where, f"price: {key} must be a number (US dollars per million tokens).")
        else:
            amounts[PRICE_KEYS[key]] = Decimal(str(said[key]))
    price = Price(**amounts)
    if len(amounts) == len(PRICE_KEYS):
        _check_fields(check, price, {name: f"price.{key}" for key, name in PRICE_KEYS.items()})
    return price


def _check_fields(check: _Check, row: LanguageModel | Provider | Price, key_of: dict[str, str]) -> None:
    unset = {name for name in ("provider", "model") if name not in key_of}
    try:
        row.clean_fields(exclude=unset)
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            key = key_of.get(name, "id" if name == "family" else name)
            for sentence in sentences:
                check.complain(key, f"{key}: {sentence}")


def _contradictions(entries: list[ModelEntry]) -> list[Problem]:
    """Ids said twice, and providers that two entries describe differently."""
    problems: list[Problem] = []
    by_id: dict[str, ModelEntry] = {}
    providers: dict[tuple[str, str], ModelEntry] = {}
    key_of = {name: key for key, name in PROVIDER_FIELDS.items()}
    for entry in entries:
        first = by_id.setdefault(entry.id, entry)
        if first is not entry:
            problems.append(Problem(entry.line, f"The id “{entry.id}” is used twice (first on line {first.line})."))
        known = providers.setdefault((entry.base_url, entry.api_key_env), entry)
        for name in entry.provider.keys() & known.provider.keys():
            if entry.provider[name] != known.provider[name]:
                sentence = (
                    f"{key_of.get(name, 'deadlines')}: the same provider is described differently on line {known.line}."
                )
                problems.append(Problem(entry.line, sentence))
    return problems


def default_provider_name(base_url: str) -> str:
    return urlsplit(base_url).hostname or "Local model"
