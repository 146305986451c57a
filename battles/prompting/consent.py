"""Consent to publish a battle's prompts and answers: its text, version and last state."""

import hashlib

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from accounts.actor import Actor
from battles.models import Battle

_TEXT = gettext_noop(
    "Optional: what I ask in this battle and its answers may be published together with my vote, without my name. "
    "There is nothing private in it. I can withdraw this at any time: later files then leave it out."
)


def text() -> str:
    """Return the text to agree to, translated unless the operator wrote it; "" if no prompts are published."""
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    return settings.ARENA_CONSENT_TEXT or gettext(_TEXT)


def version() -> str:
    """Return a digest of the text, equal in every language; "" if no prompts are published."""
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    source = settings.ARENA_CONSENT_TEXT or _TEXT
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def last_agreed_version(actor: Actor) -> str:
    """Return the version agreed to in the actor's latest battle, "" if none or withdrawn.

    No query if no prompts are published.
    """
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    # The order starts with the session's columns because an index on owner and activity serves it.
    asked = Battle.objects.owned_by(actor).outside_of_reviews()
    latest = asked.order_by("-session__last_active_at", "-session", "-pk")
    battle = latest.only("consent", "consent_withdrawn_at").first()
    return battle.consent if battle is not None and battle.has_consent else ""
