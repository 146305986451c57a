"""Callers check the right to manage. Each change is audited; a key never is."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from django.db import transaction

from accounts import audit
from accounts.models import Team, User
from models_registry import versions
from models_registry.catalogue import discovery
from models_registry.health import outcomes
from models_registry.models import LanguageModel, Price, Provider
from models_registry.profiles import change_profile, profile_of
from models_registry.providers.catalogue import Offer

Status = LanguageModel.Status


class Removal(NamedTuple):
    """retired: number of models that were retired; the provider stays for their past answers."""

    retired: int
    is_deleted: bool


def _subject(team: Team | None, row: Provider | LanguageModel) -> str:
    return f"team {team.slug if team else ''}: {row}"


@transaction.atomic
def save_provider(*, by: User, provider: Provider, changed: list[str]) -> None:
    """Store a provider whose form is valid. changed: names of its fields; "key" if one was entered or removed."""
    is_new = provider.pk is None
    provider.save()
    if not is_new and {"key", "remove_key", "base_url"} & set(changed):
        outcomes.reset_provider_breaker(provider)
    subject = _subject(provider.team, provider)
    audit.record(by, "add provider" if is_new else "change provider", subject, changed=sorted(changed))


@transaction.atomic
def remove_provider(*, by: User, provider: Provider) -> Removal:
    """Delete the key; retire the models, or delete a provider that never had any."""
    audit.record(by, "remove provider", _subject(provider.team, provider))
    if not provider.models.exists():
        provider.delete()
        return Removal(0, is_deleted=True)
    retired = 0
    for model in provider.models.exclude(status=Status.RETIRED):
        set_status(by=by, model=model, status=Status.RETIRED)
        retired += 1
    provider.clear_key()
    provider.needs_key = True
    provider.save()
    return Removal(retired, is_deleted=False)


@transaction.atomic
def add_named(*, by: User, provider: Provider, upstream_name: str) -> LanguageModel:
    """Register a model as a draft that the provider does not list; return the known one of this name."""
    known = discovery.registered_models(provider).get(upstream_name)
    if known is not None:
        return known
    model = discovery.create_model(provider, Offer(upstream_name), Status.DRAFT)
    audit.record(by, "add language model", _subject(provider.team, model), upstream_name=upstream_name)
    return model


@transaction.atomic
def change_model(
    *,
    by: User,
    model: LanguageModel,
    changes: Mapping[str, object],
    price: Price | None,
    energy: tuple[Decimal | None, str],
) -> LanguageModel:
    """Return the changed model: a new version if it has votes and its answers are affected.

    energy: active_b and energy_name of its profile.
    """
    changed = versions.revise(model.pk, changes)
    is_priced = price is not None and versions.set_price(changed, price.input_per_million, price.output_per_million)
    profile = profile_of(changed.pk)
    stated = profile._replace(active_b=energy[0], energy_name=energy[1])
    change_profile(changed.pk, stated)
    if changes or is_priced or stated != profile:
        subject = _subject(model.team, changed)
        names = sorted([*changes, *(["energy"] if stated != profile else [])])
        audit.record(by, "change language model", subject, changed=names, price=str(price) if is_priced else "")
    return changed


@transaction.atomic
def set_status(*, by: User, model: LanguageModel, status: LanguageModel.Status) -> None:
    if model.status != status:
        versions.revise(model.pk, {"status": status})
        audit.record(by, f"set status {status}", _subject(model.team, model), before=model.status)


@transaction.atomic
def use_site_models(*, by: User, team: Team, uses: bool) -> None:
    """Let the team's members use the site's models beside its own, or not."""
    locked = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    if locked.uses_site_models != uses:
        locked.uses_site_models = uses
        locked.save(update_fields=["uses_site_models"])
        audit.record(by, "use site models" if uses else "use own models only", f"team {team.slug}")
