"""Payloads of auto mode's decisions. The pair of a battle without a vote is in none of them."""

from collections.abc import Mapping
from typing import cast

from battles.auto.payload_types import AlternativePayload, BattleDecisionPayload, RoutePayload, RouteTarget
from battles.auto.reasons import reason_payload
from battles.models import RoutingDecision

MAX_ALTERNATIVES_SHOWN = 6


def is_hidden(decision: RoutingDecision) -> bool:
    """Return whether the decision is about a pair that its person may not know yet.

    decision: with its battle and vote, else they are queried.
    """
    if decision.target != RoutingDecision.Target.ARENA:
        return False
    battle = decision.battle
    return battle is None or battle.hides_names


def route_payload(decision: RoutingDecision) -> RoutePayload:
    hidden = is_hidden(decision)
    return {
        "decision": decision.public_id,
        "target": cast(RouteTarget, decision.target),
        "model": None if hidden else _model(decision),
        "runner_up": None if hidden else _runner_up(decision),
        "query_type": decision.query_type,
        "confidence": _rounded(decision.confidence),
        "reason": reason_payload(decision.reason, decision.details),
        "alternatives": [] if hidden else _alternatives(decision),
        "policy": decision.policy,
    }


def battle_decision_payload(
    decision: RoutingDecision, *, is_revealed: bool, fell_back: bool = False
) -> BattleDecisionPayload:
    """is_revealed: whether the person knows the battle's models. fell_back: another model answered than the chosen."""
    payload: BattleDecisionPayload = {
        "target": "fallback" if fell_back else cast(RouteTarget, decision.target),
        "query_type": decision.query_type,
        "reason": reason_payload("fallback" if fell_back else decision.reason, decision.details),
    }
    if is_revealed:
        payload |= {
            "decision": decision.public_id,
            "model": _model(decision),
            "runner_up": _runner_up(decision),
            "confidence": _rounded(decision.confidence),
            "alternatives": _alternatives(decision),
            "policy": decision.policy,
        }
    return payload


def _model(decision: RoutingDecision) -> str | None:
    """Return the slug of the first stored candidate."""
    return _slug(decision.candidates, 0) if decision.model_id is not None else None


def _runner_up(decision: RoutingDecision) -> str | None:
    return _slug(decision.candidates, 1) if decision.runner_up_id is not None else None


def _slug(candidates: list[Mapping[str, object]], number: int) -> str | None:
    return str(candidates[number]["model"]) if number < len(candidates) else None


def _alternatives(decision: RoutingDecision) -> list[AlternativePayload]:
    considered = [candidate for candidate in decision.candidates if not candidate.get("reason_out")]
    return [
        {
            "model": candidate["model"],
            "name": candidate["name"],
            "win_chance": candidate["win_chance"],
            "good_enough": candidate["good_enough"],
            "cost": candidate["cost"],
            "first_token_ms": candidate["first_token_ms"],
            "energy": candidate.get("energy"),  # missing in decisions of earlier releases
        }
        for candidate in considered[:MAX_ALTERNATIVES_SHOWN]
    ]


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
