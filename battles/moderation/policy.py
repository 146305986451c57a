"""Cached moderation rules that are active."""

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
    """Active rules. scored: (category of the endpoint, rule); empty without an active endpoint."""

    matchers: tuple[tuple[ModerationRule, Matcher], ...] = ()
    endpoint: ModerationEndpoint | None = None
    scored: tuple[tuple[str, ModerationRule], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matchers or self.scored)


def _load() -> Policy:
    rules = list(ModerationRule.objects.exclude(action=Action.OFF).order_by("pk"))
    scored = tuple((name, rule) for rule in rules if rule.kind == Kind.ENDPOINT for name in rule.patterns)
    endpoint = ModerationEndpoint.objects.filter(is_active=True).select_related("provider").first() if scored else None
    return Policy(tuple(_matchers(rules)), endpoint, scored if endpoint is not None else ())


def _matchers(rules: list[ModerationRule]) -> list[tuple[ModerationRule, Matcher]]:
    matchers = []
    for rule in rules:
        if rule.kind == Kind.ENDPOINT:
            continue
        try:
            matchers.append((rule, rule.matcher))
        except InvalidPattern as error:  # saved with another version of the engine
            logger.error("moderation rule %s cannot be used: %s", rule.pk, error)
    return matchers


current = TTLCached(_load, ttl_s=5, invalidated_by=(ModerationRule, ModerationEndpoint, Provider))
