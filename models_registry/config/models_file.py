from decimal import Decimal
from typing import Any

import yaml
from django.db import transaction

from models_registry import versions
from models_registry.config.entries import (
    LICENSE_KINDS,
    DeadlineKeys,
    ModelEntry,
    ModelKeys,
    ProviderKeys,
    check_file,
    default_provider_name,
    fields_by_key,
)
from models_registry.config.yaml_lines import ConfigRefused, Problem
from models_registry.models import LanguageModel, Provider
from models_registry.profiles import Profile, change_profile, profile_of


@transaction.atomic
def import_models(text: str) -> list[str]:
    """Create or update the file's models, all or nothing; return a sentence for each change.

    Omitted keys set defaults, but an omitted price or provider key keeps the current value. Raises ConfigRefused with
    every problem and its line.
    """
    changes: list[str] = []
    problems: list[Problem] = []
    for entry in check_file(text):
        current = LanguageModel.objects.lock_newest(entry.id)
        taken = LanguageModel.objects.filter(slug=entry.id).exclude(family=entry.id).first()
        if taken is not None:
            sentence = f"“{entry.id}” is version {taken.version} of “{taken.family}”: write that id."
            problems.append(Problem(entry.line, sentence))
            continue
        provider = _import_provider(entry, changes)
        _import_model(entry, provider, current, changes)
    if problems:
        raise ConfigRefused(problems)
    return changes


def _import_provider(entry: ModelEntry, changes: list[str]) -> Provider:
    values = entry.provider
    provider, is_new = Provider.objects.get_or_create(
        base_url=entry.base_url,
        api_key_env=entry.api_key_env,
        defaults={
            "name": default_provider_name(entry.base_url), "needs_key": bool(entry.api_key_env), **values,
        },
    )  # fmt: skip
    if is_new:
        changes.append(f"added the provider {provider}")
    elif changed := [name for name, value in values.items() if getattr(provider, name) != value]:
        Provider.objects.filter(pk=provider.pk).update(**values)
        changes.append(f"changed the provider {values.get('name', provider)}: {', '.join(changed)}")
    return provider


def _import_model(entry: ModelEntry, provider: Provider, current: LanguageModel | None, changes: list[str]) -> None:
    if current is None:
        model = LanguageModel.objects.create(provider=provider, **entry.fields)
        changes.append(f"added {entry.id}")
    else:
        fields = {name: value for name, value in entry.fields.items() if name != "slug"}
        fields["provider_id"] = provider.pk
        changed = ", ".join(name for name, value in fields.items() if getattr(current, name) != value)
        model = versions.revise(current.pk, fields)
        if model.pk != current.pk:
            changes.append(f"{entry.id}: version {model.version}, a new contestant ({changed})")
        elif changed:
            changes.append(f"changed {entry.id}: {changed}")
    profile = profile_of(model.pk)
    stated = Profile(
        profile.hides_setup if entry.hides_setup is None else entry.hides_setup,
        profile.icon,
        profile.active_b if entry.active_b is None else entry.active_b,
        profile.energy_name if entry.energy_name is None else entry.energy_name,
    )
    if stated != profile:
        change_profile(model.pk, stated)
    if stated.hides_setup != profile.hides_setup:
        changes.append(f"{entry.id}: what it is sent is {'hidden' if stated.hides_setup else 'public'}")
    if (stated.active_b, stated.energy_name) != (profile.active_b, profile.energy_name):
        changes.append(f"{entry.id}: its energy is estimated anew")
    price = entry.price
    if price and versions.set_price(model, price.input_per_million, price.output_per_million):
        changes.append(f"{entry.id}: costs {price}")


def export_models() -> str:
    """Return every model's newest version as YAML; importing it changes nothing."""
    models = LanguageModel.objects.select_related("provider").prefetch_related("prices")
    newest = {model.family: model for model in models.order_by("version")}
    entries = [_as_entry(newest[family]) for family in sorted(newest)]
    return yaml.safe_dump(entries, allow_unicode=True, sort_keys=False, width=110)


def _as_entry(model: LanguageModel) -> dict[str, Any]:
    provider, price, profile = model.provider, model.price, profile_of(model.pk)
    license = next(word for word, kind in LICENSE_KINDS.items() if kind == model.license_kind)
    entry = {key: getattr(model, name) for key, name in fields_by_key(ModelKeys).items()}
    entry |= {key: getattr(provider, name) for key, name in fields_by_key(ProviderKeys).items()}
    deadlines = {key: getattr(provider, name) for key, name in fields_by_key(DeadlineKeys).items()}
    entry |= {
        "id": model.family,
        "base_url": provider.base_url,
        "api_key_env": provider.api_key_env,
        "deadlines": {key: _number(Decimal(str(seconds))) for key, seconds in deadlines.items() if seconds},
        "license": license,
        "license_name": model.license,
        "price": price and {"input": _number(price.input_per_million), "output": _number(price.output_per_million)},
        "daily_budget": None if provider.daily_budget is None else _number(provider.daily_budget),
        "fetches_media": provider.fetches_media or None,
        "sends_trace": provider.sends_trace or None,
        "finish_reason_required": None if provider.finish_reason_required else False,
        "hide_setup": profile.hides_setup or None,
        "active_b": None if profile.active_b is None else _number(profile.active_b),
        "energy_name": profile.energy_name,
        "size_b": None if model.size_b is None else _number(model.size_b),
    }
    return {key: value for key, value in entry.items() if value not in (None, "", [], {})}


def _number(amount: Decimal) -> int | float:
    return int(amount) if amount == amount.to_integral_value() else float(amount)
