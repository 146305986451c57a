"""Dry run of the rules on a text, for administrators who write them. Nothing is stored."""

from dataclasses import dataclass, field

from battles.models import Action, ModerationRule
from battles.moderation import endpoint, policy
from battles.moderation.examination import first_blocking
from battles.moderation.findings import Finding
from battles.text.deobfuscation import TextVariant, text_variants
from battles.text.matching import InvalidPattern
from models_registry.health.failure_messages import failure_message
from models_registry.providers.base import ProviderError


@dataclass(frozen=True)
class RuleMatch:
    """Rule, possibly inactive, with its patterns that occur."""

    rule: ModerationRule
    lines: list[str]


@dataclass(frozen=True)
class DryRun:
    """spellings: searched ones. scored: the endpoint's findings; problem: reason for none."""

    spellings: list[str]
    matches: list[RuleMatch]
    scored: list[Finding] = field(default_factory=list)
    problem: str = ""

    @property
    def blocking_rule(self) -> ModerationRule | None:
        blocking = first_blocking([*(Finding(match.rule) for match in self.matches), *self.scored])
        return blocking.rule if blocking is not None else None

    @property
    def warnings(self) -> list[str]:
        rules = [*(match.rule for match in self.matches), *(finding.rule for finding in self.scored)]
        return list(dict.fromkeys(rule.localized_category for rule in rules if rule.action == Action.WARN))

    @property
    def is_in_queue(self) -> bool:
        return bool(self.scored) or any(match.rule.action != Action.OFF for match in self.matches)


def try_rules(text: str, *, ask_endpoint: bool = False) -> DryRun:
    """Apply all rules to a first prompt. ask_endpoint: also call the endpoint, even if a rule refuses it."""
    variants = text_variants([text])
    rules = ModerationRule.objects.exclude(kind=ModerationRule.Kind.ENDPOINT).order_by("pk")
    matches = [RuleMatch(rule, lines) for rule in rules if (lines := _matching_lines(rule, variants))]
    spellings = [variant.written for variant in variants]
    current = policy.current()
    if not ask_endpoint or current.endpoint is None:
        return DryRun(spellings, matches)
    try:
        return DryRun(spellings, matches, endpoint.request_findings(current.endpoint, current, [[text]]))
    except ProviderError as error:
        return DryRun(spellings, matches, problem=failure_message(error.code))


def _matching_lines(rule: ModerationRule, variants: list[TextVariant]) -> list[str]:
    return [line for line in rule.patterns if _matches(ModerationRule(kind=rule.kind, patterns=[line]), variants)]


def _matches(rule: ModerationRule, variants: list[TextVariant]) -> bool:
    try:
        return rule.matcher.matches(variants)
    except InvalidPattern:  # saved with another version of the engine; policy logs this
        return False
