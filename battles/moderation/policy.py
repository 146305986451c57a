"""What prompts are looked at for now."""

import logging
from dataclasses import dataclass

from battles.models import Action, ModerationEndpoint, ModerationRule
from battles.text.matching import InvalidPattern, Matcher
from common.cache import TTLCached
from models_registry.models import Provider

logger = logging.getLogger(__name__)

Kind = ModerationRule.Kind


@dataclass(frozen=True)
class Policy:
    """Nothing but rules that are on. `scored` are by the endpoint's categories, and empty without an endpoint."""

    matched: tuple[tuple[ModerationRule, Matcher], ...] = ()
    endpoint: ModerationEndpoint | None = None
    scored: tuple[tuple[str, ModerationRule], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matched or self.scored)


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
        except InvalidPattern as error:  # the form refuses it; another version of the engine may have taken it
            logger.error("moderation rule %s cannot be used: %s", rule.pk, error)
    return matched


current = TTLCached(_read, ttl_s=5, invalidated_by=(ModerationRule, ModerationEndpoint, Provider))
