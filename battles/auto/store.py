"""Store auto mode's decisions: facts and numbers, no text of the prompt and no digest of it."""

from functools import partial

from django.db import transaction

from accounts.actor import Actor
from battles.auto.port import MAX_CANDIDATES_STORED, Alternative, Routed, RoutingRequest
from battles.models import Battle, RoutingDecision, Session
from common.valkey import counters
from models_registry.models import LanguageModel


def store_decision(
    *,
    actor: Actor,
    request: RoutingRequest,
    routed: Routed,
    session: Session | None = None,
    battle: Battle | None = None,
) -> RoutingDecision:
    decision = RoutingDecision.objects.create(
        person=actor.key if actor.is_known else "",
        team_id=request.team_id,
        token_id=request.token,
        session=session,
        battle=battle,
        query_type=routed.query_type,
        type_confidence=routed.type_confidence,
        categories=list(routed.labels.categories),
        language=routed.labels.language,
        context=request.context.as_json,
        policy=routed.policy[:60],
        target=routed.target,
        model=routed.models[0] if routed.models else None,
        runner_up=_runner_up(routed),
        confidence=routed.confidence,
        win_chance=routed.win_chance,
        cost_expected=routed.cost_expected,
        cost_best=routed.cost_best,
        dial=routed.dial,
        propensity=routed.propensity,
        explored=routed.explored,
        candidates=[alternative.as_json for alternative in _in_order(routed)[:MAX_CANDIDATES_STORED]],
        reason=routed.reason,
        details=dict(routed.details),
        micros=routed.micros,
    )
    transaction.on_commit(partial(counters.add, "decisions", str(decision.target), decision.query_type))
    return decision


def _runner_up(routed: Routed) -> LanguageModel | None:
    return routed.models[1] if len(routed.models) > 1 else routed.runner_up


def _in_order(routed: Routed) -> list[Alternative]:
    """Return the candidates, the chosen model and the runner-up first: payloads read their names there."""
    known = {alternative.model: alternative for alternative in routed.alternatives}
    first = dict.fromkeys(model for model in (*routed.models, _runner_up(routed)) if model is not None)
    others = [alternative for model, alternative in known.items() if model not in first]
    return [*(known.get(model, Alternative(model)) for model in first), *others]
