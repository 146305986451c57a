"""What prompts are looked at for now, looked up once for everybody who asks within some seconds."""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from battles.models import Action, ModerationEndpoint, ModerationRule
from battles.moderation.matching import Matcher, NotAPattern
from models_registry.models import Provider

logger = logging.getLogger(__name__)

FRESH_FOR_S = 5.0
Kind = ModerationRule.Kind


@dataclass(frozen=True)
class Policy:
    """Nothing but rules that are on. `scored` are by the endpoint's categories, and empty without an endpoint."""

    matched: tuple[tuple[ModerationRule, Matcher], ...] = ()
    endpoint: ModerationEndpoint | None = None
    scored: tuple[tuple[str, ModerationRule], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matched or self.scored)


_lock = threading.Lock()
_known = Policy()
_known_until = 0.0


def current() -> Policy:
    """At most five seconds old; what this process changes shows at once. The threads of the process share it."""
    global _known, _known_until
    with _lock:
        if time.monotonic() >= _known_until:
            _known = _read()
            _known_until = time.monotonic() + FRESH_FOR_S
        return _known


def _read() -> Policy:
    rules = list(ModerationRule.objects.exclude(action=Action.OFF).order_by("pk"))
    scored = tuple((name, rule) for rule in rules if rule.kind == Kind.ENDPOINT for name in rule.patterns)
    endpoint = ModerationEndpoint.objects.filter(is_active=True).select_related("provider").first() if scored else None
    return Policy(tuple(_matched(rules)), endpoint, scored if endpoint is not None else ())


def _matched(rules: list[ModerationRule]) -> list[tuple[ModerationRule, Matcher]]:
    matched = []
    for rule in rules:
        if rule.kind == Kind.ENDPOINT:
            continue
        try:
            matched.append((rule, rule.matcher))
        except NotAPattern as error:  # the form refuses it; another version of the engine may have taken it
            logger.error("moderation rule %s cannot be used: %s", rule.pk, error)
    return matched


def _forget() -> None:
    global _known_until
    _known_until = 0.0


@receiver([post_save, post_delete], sender=ModerationRule)
@receiver([post_save, post_delete], sender=ModerationEndpoint)
@receiver([post_save, post_delete], sender=Provider)
def look_again(**_: Any) -> None:
    _forget()
    transaction.on_commit(_forget)  # somebody may have looked before
