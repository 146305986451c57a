from collections.abc import Iterable, Mapping
from typing import cast

from common.text.money import plain_decimal
from models_registry.models import LanguageModel, Price
from models_registry.payload_types import LicenseKind, ModelPayload, Status

LICENCE_KIND_LABELS = dict(LanguageModel.LicenseKind.choices)


def model_summary(model: LanguageModel, *, prices: Mapping[int, Price] | None = None) -> ModelPayload:
    """Return the API's model object. No query if prices are prefetched or given by the models' ids.

    Prices are US dollars per million tokens as decimal strings, None while unknown.
    """
    price = model.price if prices is None else prices.get(model.pk)
    return {
        "id": model.slug,
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
    }


def licence_label(licence: str) -> str:
    """Return a license kind's label; other names of licences unchanged."""
    return str(LICENCE_KIND_LABELS.get(licence, licence))


def prices_in_force(model_ids: Iterable[int]) -> dict[int, Price]:
    """Return current prices by model; for hundreds of models in a third of prefetching's time."""
    newest = Price.objects.filter(model__in=list(model_ids)).order_by("model_id", "-valid_from", "-pk")
    return {price.model_id: price for price in newest.distinct("model_id")}
