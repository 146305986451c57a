from typing import NamedTuple

from battles.auto.port import RoutingRequest
from battles.labels import Labels
from common.cache import TTLCached
from common.db.execution import rows_if_migrated
from models_registry import drawable_cache
from routing.models import RoutingThresholds, Rule


class Policy(NamedTuple):
    rules: list[Rule]
    thresholds: RoutingThresholds

    def rules_in_place(self, team_id: int | None) -> list[Rule]:
        """Return a team's rules, then the site's if the team uses the site's models."""
        own = [rule for rule in self.rules if rule.team_id == team_id]
        if team_id is None or not drawable_cache.roster_of(team_id).has_site_models:
            return own
        return own + [rule for rule in self.rules if rule.team_id is None]


def _read() -> Policy:
    rules = rows_if_migrated(Rule.objects.active().select_related("model"))
    chosen = rows_if_migrated(RoutingThresholds.objects.all())
    return Policy(rules, thresholds_or_default(chosen[0] if chosen else None))


def thresholds_or_default(chosen: RoutingThresholds | None) -> RoutingThresholds:
    return chosen or RoutingThresholds()


current_policy = TTLCached(_read, ttl_s=5, invalidated_by=(Rule, RoutingThresholds))


def first_match(rules: list[Rule], request: RoutingRequest, labels: Labels) -> Rule | None:
    return next((rule for rule in rules if matches(rule, request, labels)), None)


def matches(rule: Rule, request: RoutingRequest, labels: Labels) -> bool:
    characters = request.total_characters
    return (
        (not rule.category or rule.category in labels.categories)
        and (not rule.language or rule.language == labels.language)
        and (rule.min_characters is None or characters >= rule.min_characters)
        and (rule.max_characters is None or characters <= rule.max_characters)
        and _is_as_wanted(rule.needs_tools, request.needs_tools or request.context.tools)
        and _is_as_wanted(rule.needs_images, request.needs_images)
        and _is_as_wanted(rule.data_loaded, request.context.data_loaded)
        and (not rule.workflow or rule.workflow == request.context.workflow)
        and (rule.token_id is None or rule.token_id == request.token)
    )


def _is_as_wanted(wanted: str, fact: bool) -> bool:
    return not wanted or fact == (wanted == Rule.WhenIs.YES)
