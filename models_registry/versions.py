"""Models with votes get a new version if their answers are affected."""

from collections.abc import Mapping
from decimal import Decimal

from django.db import transaction

from models_registry.models import LanguageModel, Price
from models_registry.profiles import copy_profile

# Fields that a new version does not inherit.
_NOT_INHERITED = {"id", "slug", "version", "retired_at", "has_votes", "created_at"}


@transaction.atomic
def revise(pk: int, changes: Mapping[str, object]) -> LanguageModel:
    """Apply `changes` (attribute name → value) and return the changed row.

    If the model has votes and one of LanguageModel.BEHAVIOUR changes, that is a new version, and the old one is
    retired.
    """
    current = LanguageModel.of_every_owner.select_for_update().get(pk=pk)
    changed = {name: value for name, value in changes.items() if getattr(current, name) != value}
    if current.has_votes and changed.keys() & set(LanguageModel.BEHAVIOUR):
        return _next_version(current, changed)
    if changed:
        for name, value in changed.items():
            setattr(current, name, value)
        current.save()
    return current


def _next_version(current: LanguageModel, changed: Mapping[str, object]) -> LanguageModel:
    own = LanguageModel.of_every_owner.filter(team=current.team_id)
    newest = own.lock_newest(current.family) or current
    inherited = {
        field.attname: getattr(current, field.attname)
        for field in LanguageModel._meta.concrete_fields
        if field.name not in _NOT_INHERITED
    }
    version = newest.version + 1
    while own.filter(slug=f"{current.family}-v{version}").exists():
        version += 1  # another family uses the slug
    successor = LanguageModel.of_every_owner.create(
        **{**inherited, **changed, "version": version, "slug": f"{current.family}-v{version}"}
    )
    if current.price is not None:
        set_price(successor, current.price.input_per_million, current.price.output_per_million)
    copy_profile(current.pk, to=successor.pk)
    current.status = LanguageModel.Status.RETIRED
    current.save()
    return successor


def set_price(model: LanguageModel, input_per_million: Decimal, output_per_million: Decimal) -> bool:
    """Set the current price (US dollars per million tokens); return whether it changed."""
    price = model.price
    if price and (price.input_per_million, price.output_per_million) == (input_per_million, output_per_million):
        return False
    Price.objects.create(model=model, input_per_million=input_per_million, output_per_million=output_per_million)
    return True
