from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.access import Access, may_battle


def access_flags(request: HttpRequest) -> dict[str, object]:
    """has_to_sign_in: before a battle; lazy, because it may query the actor. is_private: the site is for members."""

    def has_to_sign_in() -> bool:
        actor = getattr(request, "actor", None)
        return actor is not None and not may_battle(actor)

    return {
        "has_to_sign_in": SimpleLazyObject(has_to_sign_in),
        "is_private": settings.ARENA_ACCESS == Access.PRIVATE,
    }
