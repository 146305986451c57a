"""Cached moderation rules that are active."""

import logging
from dataclasses import dataclass, replace

from battles.models import Action, ModerationEndpoint, ModerationRule
from battles.text.matching import InvalidPattern, Matcher
from common.cache import TTLCached, TTLCachedByTeam, is_of_site
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


def _load_of_team(team_id: int) -> tuple[tuple[ModerationRule, Matcher], ...]:
    rules = ModerationRule.of_every_owner.filter(team=team_id).exclude(action=Action.OFF)
    return tuple(_matchers(list(rules.order_by("pk"))))


current = TTLCached(
    _load, ttl_s=5, invalidated_by=(ModerationRule, ModerationEndpoint, Provider), is_concerned=is_of_site
)
_of_team = TTLCachedByTeam(_load_of_team, ttl_s=5, invalidated_by=(ModerationRule,))


def in_place(team_id: int | None) -> Policy:
    """Return the site's rules, then the team's."""
    of_site = current()
    own = () if team_id is None else _of_team(team_id)
    return replace(of_site, matchers=(*of_site.matchers, *own)) if own else of_site
