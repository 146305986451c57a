"""Auto mode's decisions: rules first, then the model of the conversation, then what the router learned."""

import time
from dataclasses import replace
from random import SystemRandom

from accounts.actor import Actor
from battles.auto.port import PreviousAnswer, Routed, RoutingRequest, Target
from battles.prompting.lineup import draw_models
from routing.deciding.conversation import has_new_subject, is_recent, previous_model
from routing.deciding.learned_choice import choose_freely, find_better
from routing.deciding.question import Question
from routing.deciding.refusals import no_model, unavailable
from routing.models import Rule

_random = SystemRandom()


def decide(request: RoutingRequest, actor: Actor) -> Routed:
    """Decide without a query, unless people have budgets; store nothing.

    Raises NoModelFits, NoModelAvailable, BudgetReached.
    """
    began = time.perf_counter_ns()
    routed = _decide(Question.of(request, actor))
    return replace(routed, micros=(time.perf_counter_ns() - began) // 1000)


def _decide(question: Question) -> Routed:
    rule, previous = question.rule, question.request.previous
    if previous is not None and previous.in_tool_loop:
        return _stay(question, previous, "tools")
    if rule is not None and rule.target == Rule.Target.MODEL:
        return _model_of_rule(question, rule)
    if not question.allowed.rows:
        raise no_model(question.allowed)
    if previous is not None and is_recent(previous):
        return _stay_or_move(question, previous)
    if rule is not None and rule.target == Rule.Target.ARENA and question.may_battle:
        return _battle_of_rule(question, rule)
    return choose_freely(question)


def _model_of_rule(question: Question, rule: Rule) -> Routed:
    """Return the rule's model or refuse: a prompt that a rule keeps on one model never goes to another one."""
    allowed = question.allowed
    row = allowed.table.rows.get(rule.model.slug) if rule.model is not None else None
    if row is None:
        raise unavailable()
    reason_out = allowed.reasons_out.get(row, "")
    # An operator may designate a model for applications with tools before its abilities are entered.
    if reason_out and (reason_out != "tools" or question.request.needs_tools):
        raise no_model(allowed)
    routed = question.routed(
        Target.MODEL,
        (allowed.table.models[row],),
        "rule",
        policy=f"rule {rule.pk}",
        confidence=question.type.confidence,
    )
    return replace(routed, alternatives=(allowed.alternative(row),))


def _battle_of_rule(question: Question, rule: Rule) -> Routed:
    pair = draw_models(question.drawn_from, _random)
    if pair is None:
        raise unavailable()
    models = question.allowed.model(pair.left), question.allowed.model(pair.right)
    routed = question.routed(
        Target.ARENA, models, "rule_battle", policy=f"rule {rule.pk}", confidence=question.type.confidence
    )
    return replace(routed, propensity=pair.propensity)


def _stay(question: Question, previous: PreviousAnswer, reason: str) -> Routed:
    """Raises NoModelAvailable."""
    model = previous_model(previous)
    routed = question.routed(Target.STAY, (model,), reason, policy="stay", confidence=question.type.confidence)
    row = question.candidates.table.rows.get(model.slug)
    return routed if row is None else replace(routed, alternatives=(question.candidates.alternative(row),))


def _stay_or_move(question: Question, previous: PreviousAnswer) -> Routed:
    if previous.model not in question.allowed.places:
        return replace(choose_freely(question, explores=False), reason="moved")
    if has_new_subject(previous.labels, question.labels):
        better = find_better(question, than=previous.model)
        if better is not None:
            return better
    return _stay(question, previous, "stay")
