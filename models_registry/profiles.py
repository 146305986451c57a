"""Profiles of models: whether what they are sent is public, their icons, and what their energy is estimated from."""

from decimal import Decimal
from typing import NamedTuple

from django.db import ProgrammingError, transaction

from common.cache import TTLCached
from models_registry.models import ModelIcon, ModelProfile


class Profile(NamedTuple):
    hides_setup: bool = False
    icon: str | None = None  # digest
    active_b: Decimal | None = None
    energy_name: str = ""


def _load_profiles() -> dict[int, Profile] | None:
    try:
        with transaction.atomic():
            rows = list(ModelProfile.objects.values_list("pk", "hides_setup", "icon", "active_b", "energy_name"))
    except ProgrammingError:  # during an update the table may not exist yet, and votes must work
        return None
    return {pk: Profile._make(values) for pk, *values in rows}


# Payloads of battles have icons, and the tables on the way to a vote get no column that is read at once.
cached_profiles = TTLCached(_load_profiles, ttl_s=2, invalidated_by=(ModelProfile,))


def profile_of(model_id: int) -> Profile:
    profiles = cached_profiles()
    return Profile(hides_setup=True) if profiles is None else profiles.get(model_id, Profile())


def change_profile(model_id: int, profile: Profile) -> None:
    """Store the profile, and delete the earlier icon if no model has it."""
    earlier = ModelProfile.objects.filter(pk=model_id).first()
    if profile == (_as_profile(earlier) if earlier else Profile()):
        return
    ModelProfile(
        pk=model_id, hides_setup=profile.hides_setup, icon_id=profile.icon, active_b=profile.active_b,
        energy_name=profile.energy_name,
    ).save()  # fmt: skip
    if earlier and earlier.icon_id and not ModelProfile.objects.filter(icon=earlier.icon_id).exists():
        ModelIcon.objects.filter(pk=earlier.icon_id).delete()


def copy_profile(model_id: int, *, to: int) -> None:
    if earlier := ModelProfile.objects.filter(pk=model_id).first():
        change_profile(to, _as_profile(earlier))


def _as_profile(row: ModelProfile) -> Profile:
    return Profile(row.hides_setup, row.icon_id, row.active_b, row.energy_name)
