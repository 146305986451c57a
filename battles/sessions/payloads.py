from collections.abc import Iterable

from accounts.actor import Actor
from battles.models import Battle, Session
from battles.payload_types import ConsentPayload, SessionHeadPayload, SessionPayload, SessionSummaryPayload
from battles.payloads import battle_payload, payload_for
from battles.prompting import consent
from battles.queries import get_session_battles


def consent_payload(actor: Actor) -> ConsentPayload:
    count = Battle.objects.owned_by(actor).with_consent().count()
    return {"text": consent.text(), "version": consent.version(), "battles": count}


def session_summary(session: Session) -> SessionSummaryPayload:
    """session: from a queryset `with_revealed_names()` and `with_battle_count()`."""
    return {
        **_session_head(session),
        "battle_count": session.battle_count,  # type: ignore[attr-defined]
        "models": session.revealed_names,  # type: ignore[attr-defined]
        "names_hidden": session.has_hidden_names,  # type: ignore[attr-defined]
    }


def session_detail(
    session: Session, battles: Iterable[Battle] | None = None, *, actor: Actor | None = None
) -> SessionPayload:
    """Return the session with its battles. battles: in order, with related rows, if loaded. actor: its reader."""
    battles = get_session_battles(session) if battles is None else battles
    payloads = [battle_payload(battle) if actor is None else payload_for(actor, battle) for battle in battles]
    return {**_session_head(session), "battles": payloads}


def _session_head(session: Session) -> SessionHeadPayload:
    head: SessionHeadPayload = {
        "id": session.public_id,
        "title": session.title,
        "created_at": session.created_at,
        "last_active_at": session.last_active_at,
        "archived": session.archived,
    }
    return head if session.team is None else {**head, "team": session.team.slug, "shared": session.is_shared}
