"""What everybody may know about a model, in the API's words."""

from decimal import Decimal
from typing import Any

from models_registry.models import LanguageModel


def model_summary(model: LanguageModel) -> dict[str, Any]:
    """The API's `model: {…}` object. No query when the model's prices are prefetched.

    Prices are US dollars per million tokens as decimal strings, None while unknown.
    """
    price = model.price
    return {
        "id": model.slug,
        "name": model.name,
        "organization": model.organization,
        "license": model.license,
        "license_kind": model.license_kind,
        "context_length": model.context_length,
        "abilities": model.abilities,
        "status": model.status,
        "price_input": None if price is None else _money(price.input_per_million),
        "price_output": None if price is None else _money(price.output_per_million),
        "version": model.version,
    }


def _money(amount: Decimal) -> str:
    return format(amount.normalize(), "f")
