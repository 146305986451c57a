"""Whether a person agrees that a battle's prompts and answers are published, and to which words."""

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
    """What is agreed to, in the reader's language unless the operator wrote it; "" where no prompts are published."""
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    return settings.ARENA_CONSENT_TEXT or gettext(_TEXT)


def version() -> str:
    """Return a digest of the words, the same in every language; "" as for `text`."""
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    words = settings.ARENA_CONSENT_TEXT or _TEXT
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def last_given(actor: Actor) -> str:
    """The version to which a person agreed in the battle they last began, and still does.

    No query where no prompts are published.
    """
    if not settings.ARENA_PUBLISH_PROMPTS:
        return ""
    # By session first, for which there is an index of each owner's.
    latest = Battle.objects.owned_by(actor).order_by("-session__last_active_at", "-session", "-pk")
    battle = latest.only("consent", "consent_withdrawn_at").first()
    return battle.consent if battle is not None and battle.has_consent else ""
