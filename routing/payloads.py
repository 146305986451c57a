from typing import cast

from battles.auto.payloads import is_hidden, route_payload
from battles.models import RoutingDecision
from common.text.money import plain_decimal
from leaderboard.counting.site_numbers import SiteNumbers
from routing.models import DecisionOutcome, RouterSnapshot
from routing.payload_types import (
    DecisionOutcomePayload,
    DecisionPayload,
    RouteContextPayload,
    RouterHeadPayload,
    RouterSnapshotPayload,
)


def decision_payload(decision: RoutingDecision) -> DecisionPayload:
    """decision: with session, battle, its vote, outcome and team."""
    costs = (None, None) if is_hidden(decision) else (decision.cost_expected, decision.cost_best)
    expected, best = (None if cost is None else plain_decimal(cost) for cost in costs)
    payload: DecisionPayload = {
        **route_payload(decision),
        "created_at": decision.created_at,
        "session": decision.session.public_id if decision.session is not None else None,
        "battle": decision.battle.public_id if decision.battle is not None else None,
        "type_confidence": round(decision.type_confidence, 4),
        "categories": list(decision.categories),
        "language": decision.language,
        "context": cast(RouteContextPayload, decision.context),
        "dial": decision.dial,
        "explored": decision.explored,
        "cost_expected": expected,
        "cost_best": best,
        "outcome": _outcome(getattr(decision, "outcome", None)),
    }
    return payload if decision.team is None else {**payload, "team": decision.team.slug}


def _outcome(outcome: DecisionOutcome | None) -> DecisionOutcomePayload | None:
    return None if outcome is None else outcome_payload(outcome)


def outcome_payload(outcome: DecisionOutcome) -> DecisionOutcomePayload:
    better = {"": None, "model": "model", "runner_up": "runner_up"}[outcome.better]
    return {"good": outcome.good, "better": better, "created_at": outcome.created_at}  # type: ignore[typeddict-item]


def snapshot_payload(snapshot: RouterSnapshot, numbers: SiteNumbers) -> RouterSnapshotPayload:
    """snapshot: with its board, without parameters."""
    return {
        "id": snapshot.public_id,
        "state": snapshot.state,  # type: ignore[typeddict-item]
        "method": snapshot.method,
        "features_version": snapshot.features_version,
        "board": snapshot.board.public_id if snapshot.board is not None else None,
        "votes": snapshot.votes,
        "trained_until": numbers.shown(snapshot.trained_until),
        "heads": [_head(head) for head in snapshot.heads],
        "prices": snapshot.prices,
        "checksum": snapshot.checksum,
        "seconds": snapshot.seconds,
        "created_at": snapshot.created_at,
    }


def _head(head: dict[str, object]) -> RouterHeadPayload:
    return {name: head.get(name) for name in RouterHeadPayload.__annotations__}  # type: ignore[return-value]
