"""Changing a contestant: what it says may not change once people have voted on it, so that makes a new version."""

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction

from models_registry.models import LanguageModel, Price

# What a new version does not take over from the one before.
_OWN = {"id", "slug", "version", "retired_at", "has_votes", "created_at"}


@transaction.atomic
def revise(pk: int, changes: Mapping[str, object]) -> LanguageModel:
    """Apply `changes` (attribute name → value) and return the row that carries them now.

    That is a new version, and the old one is retired, when the model has votes and one of
    LanguageModel.BEHAVIOUR changes; otherwise the same row. Nothing is written when nothing differs.
    """
    current = LanguageModel.objects.select_for_update().get(pk=pk)
    changed = {name: value for name, value in changes.items() if getattr(current, name) != value}
    if current.has_votes and changed.keys() & set(LanguageModel.BEHAVIOUR):
        return _next_version(current, changed)
    if changed:
        for name, value in changed.items():
            setattr(current, name, value)
        current.save()
    return current


def _next_version(current: LanguageModel, changed: Mapping[str, object]) -> LanguageModel:
    newest = LanguageModel.objects.newest_of(current.family) or current
    inherited = {
        field.attname: getattr(current, field.attname)
        for field in LanguageModel._meta.concrete_fields
        if field.name not in _OWN
    }
    version = newest.version + 1
    while LanguageModel.objects.filter(slug=f"{current.family}-v{version}").exists():
        version += 1  # another family has that name
    following = LanguageModel.objects.create(
        **{**inherited, **changed, "version": version, "slug": f"{current.family}-v{version}"}
    )
    if current.price is not None:
        set_price(following, current.price.input_per_million, current.price.output_per_million)
    current.status = LanguageModel.Status.RETIRED
    current.save()
    return following


def set_price(model: LanguageModel, input_per_million: Decimal, output_per_million: Decimal) -> bool:
    """From now on `model` costs this (US dollars per million tokens); whether that is news."""
    price = model.price
    if price and (price.input_per_million, price.output_per_million) == (input_per_million, output_per_million):
        return False
    Price.objects.create(model=model, input_per_million=input_per_million, output_per_million=output_per_million)
    return True
