from accounts.actor import Actor
from battles.models import Battle
from models_registry.models import LanguageModel

MIN_COMPARED = 2


def by_name(models: list[LanguageModel]) -> list[LanguageModel]:
    return sorted(models, key=lambda model: (model.team_id is None, model.name.casefold(), model.pk))


def preselected_models(actor: Actor, mode: str, models: list[LanguageModel]) -> list[str]:
    """Return the slugs of the actor's last comparison, or of the first two models; empty in other modes.

    Models that cannot be chosen any more are left out. One query, none for an unknown visitor.
    """
    if mode != Battle.Mode.COMPARE:
        return []
    choosable = [model.slug for model in models]
    last = [slug for slug in _last_compared(actor) if slug in choosable]
    return last if len(last) >= MIN_COMPARED else choosable[:MIN_COMPARED]


def _last_compared(actor: Actor) -> list[str]:
    if not actor.is_known:
        return []
    compared = Battle.objects.owned_by(actor).filter(mode=Battle.Mode.COMPARE)
    # An index has this order, as in battles.prompting.consent.
    last = compared.order_by("-session__last_active_at", "-session", "-pk").values("pk")[:1]
    sides = Battle.objects.filter(pk__in=last).order_by("sides__position")
    return list(sides.values_list("sides__model__slug", flat=True))
