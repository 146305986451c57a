"""Rules of auto mode of a team. Callers check the right to manage."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from accounts import audit
from accounts.models import Team, User
from routing.errors import RuleNamesNoModel, TooManyRules
from routing.models import Rule

MAX_RULES = 50
_STEP = 10


def rules_of(team: Team) -> "QuerySet[Rule]":
    return Rule.objects.filter(team=team).order_by("order", "pk")


@transaction.atomic
def save_rule(*, by: User, rule: Rule, changed: Sequence[str]) -> None:
    """Store a rule whose form is valid; a new one comes last. Raises TooManyRules."""
    assert rule.team is not None
    is_new = rule.pk is None
    if is_new:
        rules = _locked(rule.team)
        if len(rules) >= MAX_RULES:
            raise TooManyRules
        rule.order = max((known.order for known in rules), default=0) + _STEP
    rule.save()
    _record(by, "add" if is_new else "change", rule, changed=sorted(changed))


@transaction.atomic
def remove_rule(*, by: User, rule: Rule) -> None:
    _record(by, "remove", rule)
    rule.delete()


@transaction.atomic
def switch_rule(*, by: User, rule: Rule, is_active: bool) -> None:
    """Raises RuleNamesNoModel."""
    if is_active and rule.target == Rule.Target.MODEL and rule.model_id is None:
        raise RuleNamesNoModel
    if rule.is_active != is_active:
        rule.is_active = is_active
        rule.save(update_fields=["is_active"])
        _record(by, "switch on" if is_active else "switch off", rule)


@transaction.atomic
def move_up(*, by: User, rule: Rule) -> None:
    """Let the rule be tried before the one in front of it."""
    assert rule.team is not None
    rules = _locked(rule.team)
    place = rules.index(rule)
    if place == 0:
        return
    rules[place - 1], rules[place] = rules[place], rules[place - 1]
    for number, each in enumerate(rules, start=1):
        if each.order != number * _STEP:
            each.order = number * _STEP
            each.save(update_fields=["order"])
    _record(by, "move up", rule)


def _locked(team: Team) -> list[Rule]:
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    return list(rules_of(team))


def _record(by: User, verb: str, rule: Rule, *, changed: Sequence[str] = ()) -> None:
    subject = f"team {rule.team.slug if rule.team else ''}: {rule}"
    audit.record(by, f"{verb} rule of auto mode", subject, changed=list(changed))
