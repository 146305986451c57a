"""What battles knows of a member: sessions with everything in them, taken along or forgotten."""

from collections import defaultdict

from django.db.models import Q
from django.dispatch import receiver

from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from battles.actions import delete_session
from battles.models import Battle, Report, Session
from battles.payload_types import SessionPayload
from battles.queries import read_battles_of
from battles.sessions.payloads import session_detail
from common.ids import new_public_id

SESSIONS_AT_ONCE = 100


@receiver(personal_data_requested)
def sessions_of(user: User, **_: object) -> dict[str, list[SessionPayload]]:
    """As the API shows them: a blind battle without a vote stays blind."""
    shown: list[SessionPayload] = []
    sessions = list(Session.objects.filter(owner_user=user, discarded_at=None).order_by("pk"))
    for start in range(0, len(sessions), SESSIONS_AT_ONCE):
        some = sessions[start : start + SESSIONS_AT_ONCE]
        battles: dict[int, list[Battle]] = defaultdict(list)
        for battle in read_battles_of(some):
            battles[battle.session_id].append(battle)
        shown += [session_detail(session, battles[session.pk]) for session in some]
    return {"sessions": shown}


@receiver(personal_data_requested)
def reports_of(user: User, **_: object) -> dict[str, list[dict[str, object]]]:
    """What they said against battles, their own ones or others'."""
    reports = Report.objects.filter(user=user).order_by("pk").values("reason", "created_at")
    return {"reports": [dict(report) for report in reports]}


@receiver(account_deleting)
def empty_reports(user: User, **_: object) -> None:
    """Empty the reasons of their reports, also of those from before they signed in; the reports themselves stay."""
    Report.objects.filter(Q(user=user) | Q(visitor__claimed_by=user)).update(reason="")


@receiver(account_deleting)
def forget_sessions(user: User, **_: object) -> None:
    """The votes stay one person's, nobody knows whose: intervals take into account who voted often."""
    nobody = f"deleted:{new_public_id()}"
    for session in Session.objects.filter(owner_user=user):
        delete_session(session, voter=nobody)
