"""Auto mode's decisions: rules first, then the model of the conversation, then what the router learned."""

import time
from dataclasses import replace
from random import SystemRandom

from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles.auto.port import PreviousAnswer, Routed, RoutingRequest, Target
from battles.errors import NoModelAvailable, NoModelFits, budget_reached
from battles.labels import UNDETERMINED, Labels
from battles.prompting.lineup import RETRY_AFTER_S, draw_models
from common.errors import ArenaError
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from routing.deciding.learned_choice import choose_freely, find_better
from routing.deciding.query_types import FORMS
from routing.deciding.question import Question
from routing.models import Rule

# A conversation that paused for longer is decided anew. The gateway remembers answers for SESSION_TTL_S, as long.
MAX_IDLE_S = 3600
# The request's field and the sentence, by the reason that excluded the last models; in the order of the checks.
_SENTENCES = {
    "cost": ("max_cost", _("No model answers for so little. Raise the limit of cost.")),
    "first_token": ("max_first_token_ms", _("No model is known to be that fast. Raise the limit of time.")),
    "not_fast": ("model", _("A rule of this arena names a model that is not among the fastest. Use the model “auto”.")),
    "context": ("prompt", _("The conversation is too long for every model that fits otherwise.")),
    "tools": (
        "tools",
        _("No model for this request calls tools. Send none, or choose other models."),
    ),
    "images": ("prompt", _("No model that fits otherwise accepts images.")),
    "pool": ("models", _("A rule of this arena leaves none of these models.")),
}
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
        raise _no_model(question)
    if previous is not None and previous.idle_s < MAX_IDLE_S:
        return _stay_or_move(question, previous)
    if rule is not None and rule.target == Rule.Target.ARENA and question.may_battle:
        return _battle_of_rule(question, rule)
    return choose_freely(question)


def _model_of_rule(question: Question, rule: Rule) -> Routed:
    """Return the rule's model or refuse: a prompt that a rule keeps on one model never goes to another one."""
    allowed = question.allowed
    row = allowed.table.rows.get(rule.model.slug) if rule.model is not None else None
    # A team's own model may have the name of the rule's.
    if row is None or allowed.table.models[row].pk != rule.model_id:
        raise _unavailable()
    reason_out = allowed.reasons_out.get(row, "")
    # An operator may designate a model for applications with tools before its abilities are entered.
    if reason_out and (reason_out != "tools" or question.request.needs_tools):
        raise _no_model(question)
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
        raise _unavailable()
    models = question.allowed.model(pair.left), question.allowed.model(pair.right)
    routed = question.routed(
        Target.ARENA, models, "rule_battle", policy=f"rule {rule.pk}", confidence=question.type.confidence
    )
    return replace(routed, propensity=pair.propensity)


def _stay(question: Question, previous: PreviousAnswer, reason: str) -> Routed:
    """Raises NoModelAvailable."""
    model = _previous_model(question, previous)
    routed = question.routed(Target.STAY, (model,), reason, policy="stay", confidence=question.type.confidence)
    row = question.candidates.table.rows.get(model.slug)
    return routed if row is None else replace(routed, alternatives=(question.candidates.alternative(row),))


def _previous_model(question: Question, previous: PreviousAnswer) -> LanguageModel:
    """Return the model of the conversation, also while its breaker is open. Raises NoModelAvailable."""
    roster = drawable_cache.roster_of(question.request.team_id)
    offered = {model.pk: model for model in roster.choosable}
    if previous.model not in offered:
        raise _unavailable()
    return offered[previous.model]


def _stay_or_move(question: Question, previous: PreviousAnswer) -> Routed:
    if previous.model not in question.allowed.places:
        return replace(choose_freely(question, explores=False), reason="moved")
    if _has_new_subject(previous.labels, question.labels):
        better = find_better(question, than=previous.model)
        if better is not None:
            return better
    return _stay(question, previous, "stay")


def _has_new_subject(before: Labels, now: Labels) -> bool:
    """Return whether a category came, or the language changed."""
    languages = {before.language, now.language} - {UNDETERMINED}
    return len(languages) == 2 or not (set(now.categories) - FORMS) <= set(before.categories)


def _unavailable() -> NoModelAvailable:
    return NoModelAvailable(retry_after=RETRY_AFTER_S)


def _no_model(question: Question) -> ArenaError:
    """Return the refusal of a request that excludes every model."""
    reasons = set(question.allowed.reasons_out.values())
    if not reasons:
        return _unavailable()
    if "budget" in reasons and not reasons & {"cost", "first_token", "not_fast"}:
        return budget_reached(question.payer, question.scarce_account)
    field, sentence = next(_SENTENCES[reason] for reason in _SENTENCES if reason in reasons)
    return NoModelFits(sentence, fields={field: [str(sentence)]})
