from django.conf import settings
from django.core.checks import CheckMessage, Error, register

WORLD = "WOR"


@register()
def check_electricity_zone(**_: object) -> list[CheckMessage]:
    zone: str = settings.ARENA_ELECTRICITY_ZONE
    if zone == WORLD or is_known_zone(zone):
        return []
    problem = f"ARENA_ELECTRICITY_ZONE: no electricity mix is known for {zone}."
    hint = f"Three letters of ISO 3166, such as FRA, or {WORLD}."
    return [Error(problem, hint=hint, id="models_registry.E001")]


def is_known_zone(zone: str) -> bool:
    from ecologits.electricity_mix_repository import electricity_mixes

    return electricity_mixes.find_electricity_mix(zone) is not None
