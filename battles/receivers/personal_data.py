from collections import defaultdict
from datetime import datetime
from typing import NotRequired, TypedDict

from django.db.models import Q
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from battles.actions import delete_session
from battles.auto.payloads import is_hidden
from battles.models import Battle, Report, RoutingDecision, Session
from battles.payload_types import SessionPayload
from battles.queries import get_battles_of_sessions
from battles.sessions.payloads import session_detail
from common.ids import new_public_id

BATCH_SIZE = 100


@receiver(personal_data_requested)
def export_sessions(user: User, **_: object) -> dict[str, list[SessionPayload]]:
    payloads: list[SessionPayload] = []
    sessions = list(Session.objects.filter(owner_user=user, discarded_at=None).order_by("pk"))
    for start in range(0, len(sessions), BATCH_SIZE):
        batch = sessions[start : start + BATCH_SIZE]
        battles: dict[int, list[Battle]] = defaultdict(list)
        for battle in get_battles_of_sessions(batch):
            battles[battle.session_id].append(battle)
        payloads += [session_detail(session, battles[session.pk]) for session in batch]
    return {"sessions": payloads}


@receiver(personal_data_requested)
def export_reports(user: User, **_: object) -> dict[str, list[dict[str, object]]]:
    reports = Report.objects.filter(user=user).order_by("pk").values("reason", "created_at")
    return {"reports": [dict(report) for report in reports]}


class ExportedDecision(TypedDict):
    """model, runner_up: null while a battle is open. team: only of decisions in one."""

    id: str
    created_at: datetime
    query_type: str
    categories: list[str]
    language: str
    context: dict[str, bool | str]
    target: str
    model: str | None
    runner_up: str | None
    reason: str
    dial: float
    team: NotRequired[str]


@receiver(personal_data_requested)
def export_decisions(user: User, **_: object) -> dict[str, list[ExportedDecision]]:
    decisions = RoutingDecision.objects.owned_by(Actor(user=user)).order_by("pk")
    related = decisions.select_related("model__team", "runner_up__team", "battle__vote", "team").defer("candidates")
    return {"decisions_of_auto_mode": [_exported_decision(decision) for decision in related.iterator(500)]}


def _exported_decision(decision: RoutingDecision) -> ExportedDecision:
    hidden = is_hidden(decision)
    exported: ExportedDecision = {
        "id": decision.public_id,
        "created_at": decision.created_at,
        "query_type": decision.query_type,
        "categories": decision.categories,
        "language": decision.language,
        "context": decision.context,
        "target": decision.target,
        "model": None if hidden or decision.model is None else decision.model.full_slug,
        "runner_up": None if hidden or decision.runner_up is None else decision.runner_up.full_slug,
        "reason": decision.reason,
        "dial": decision.dial,
    }
    return exported if decision.team is None else {**exported, "team": decision.team.slug}


@receiver(account_deleting)
def forget_person_of_decisions(user: User, **_: object) -> None:
    RoutingDecision.objects.owned_by(Actor(user=user)).update(person="")


@receiver(account_deleting)
def clear_report_reasons(user: User, **_: object) -> None:
    """Empty the reasons of the member's reports, also of those made as a visitor."""
    Report.objects.filter(Q(user=user) | Q(visitor__claimed_by=user)).update(reason="")


@receiver(account_deleting)
def delete_sessions(user: User, **_: object) -> None:
    # One anonymous voter for all votes, because confidence intervals account for people who voted often.
    anonymous_voter = f"deleted:{new_public_id()}"
    for session in Session.objects.filter(owner_user=user):
        delete_session(session, voter=anonymous_voter)
