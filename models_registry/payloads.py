from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import cast

from django.urls import reverse

from common.text.money import plain_decimal
from models_registry.energy.estimates import energy_of_model
from models_registry.models import LanguageModel, Price
from models_registry.payload_types import (
    LicenseKind,
    ModelCardPayload,
    ModelPayload,
    ModelVersionPayload,
    SetupPayload,
    Status,
)
from models_registry.profiles import profile_of

LICENCE_KIND_LABELS = dict(LanguageModel.LicenseKind.choices)


def model_summary(model: LanguageModel, *, prices: Mapping[int, Price] | None = None) -> ModelPayload:
    """Return the API's model object. No query if prices are prefetched or given by the models' ids.

    Prices are US dollars per million tokens as decimal strings, None while unknown.
    """
    price = model.price if prices is None else prices.get(model.pk)
    return {
        "id": model.full_slug,
        "name": model.name,
        "organization": model.organization,
        "license": model.license,
        "license_kind": cast(LicenseKind, model.license_kind),
        "context_length": model.context_length,
        "abilities": model.abilities,
        "status": cast(Status, model.status),
        "price_input": None if price is None else plain_decimal(price.input_per_million),
        "price_output": None if price is None else plain_decimal(price.output_per_million),
        "version": model.version,
        "size_b": None if model.size_b is None else float(model.size_b),
        "icon": model_icon_url(model.pk),
        "energy": energy_of_model(model),
    }


def model_icon_url(model_id: int) -> str | None:
    icon = profile_of(model_id).icon
    return icon_url(icon) if icon else None


@lru_cache(maxsize=2048)
def icon_url(digest: str) -> str:
    return reverse("models:icon", args=[digest])


def model_cards(models: Iterable[LanguageModel]) -> list[ModelCardPayload]:
    """Return full descriptions of a place's models; two queries if provider and prices are fetched."""
    models = list(models)
    owner = next((model.team_id for model in models if model.team_id is not None), None)
    families: defaultdict[tuple[int | None, str], list[LanguageModel]] = defaultdict(list)
    versions = LanguageModel.objects.on_boards_of(owner).public()
    for version in versions.filter(family__in={model.family for model in models}).select_related("team", "provider"):
        families[version.team_id, version.family].append(version)
    return [_card(model, sorted(families[model.team_id, model.family], key=attrgetter("version"))) for model in models]


def _card(model: LanguageModel, versions: list[LanguageModel]) -> ModelCardPayload:
    return {
        **model_summary(model),
        "provider": model.provider.name,
        "retired_at": model.retired_at,
        "prices": [
            {
                "input": plain_decimal(price.input_per_million),
                "output": plain_decimal(price.output_per_million),
                "valid_from": price.valid_from,
            }
            for price in _price_history(model, versions)
        ],
        "setup": None if profile_of(model.pk).hides_setup else _setup(model),
        "versions": [_version(now, before) for before, now in pairwise([None, *versions])][::-1],
    }


def _price_history(model: LanguageModel, versions: list[LanguageModel]) -> list[Price]:
    """Return prices, newest first, also of earlier versions."""
    history: list[Price] = []
    earlier = [price for version in versions if version.version <= model.version for price in version.prices.all()]
    for price in sorted(earlier, key=lambda price: (price.valid_from, price.pk)):
        if not history or str(history[-1]) != str(price):
            history.append(price)
    return history[::-1]


def _setup(model: LanguageModel) -> SetupPayload:
    return {"model": model.upstream_name, "system_prompt": model.system_prompt, "parameters": model.parameters}


def _version(model: LanguageModel | None, before: LanguageModel | None) -> ModelVersionPayload:
    assert model is not None
    return {
        "id": model.full_slug,
        "name": model.name,
        "version": model.version,
        "status": cast(Status, model.status),
        "created_at": model.created_at,
        "retired_at": model.retired_at,
        "changes": _changes(model, before) if before else [],
    }


def _changes(model: LanguageModel, before: LanguageModel) -> list[str] | None:
    if profile_of(model.pk).hides_setup or profile_of(before.pk).hides_setup:
        return None
    names = {"provider": "provider_id", "model": "upstream_name", "system_prompt": "system_prompt"}
    changed = [name for name, field in names.items() if getattr(model, field) != getattr(before, field)]
    parameters = model.parameters.keys() | before.parameters.keys()
    return changed + [
        f"parameters.{name}" for name in sorted(parameters) if model.parameters.get(name) != before.parameters.get(name)
    ]


def licence_label(licence: str) -> str:
    """Return a license kind's label; other names of licences unchanged."""
    return str(LICENCE_KIND_LABELS.get(licence, licence))


def prices_in_force(model_ids: Iterable[int]) -> dict[int, Price]:
    """Return prices by model, in a third of prefetching's time."""
    newest = Price.objects.filter(model__in=list(model_ids)).order_by("model_id", "-valid_from", "-pk")
    return {price.model_id: price for price in newest.distinct("model_id")}
