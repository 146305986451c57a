"""Payloads of sessions, for the API and the exports; those of battles are in battles/payloads.py."""

from collections.abc import Iterable

from accounts.actor import Actor
from battles.models import Battle, Session
from battles.payload_types import ConsentPayload, SessionHeadPayload, SessionPayload, SessionSummaryPayload
from battles.payloads import shown_battle
from battles.prompting import consent
from battles.queries import read_battles


def consent_asked_of(actor: Actor) -> ConsentPayload:
    """The words, and to how many of their battles this person's consent stands."""
    agreed = Battle.objects.owned_by(actor).with_consent().count()
    return {"text": consent.text(), "version": consent.version(), "battles": agreed}


def session_summary(session: Session) -> SessionSummaryPayload:
    """A session in a list, read `with_revealed_names` and `with_battle_count`."""
    return {
        **_session(session),
        "battle_count": session.battle_count,  # type: ignore[attr-defined]
        "models": session.revealed_names,  # type: ignore[attr-defined]
        "names_hidden": session.has_hidden_names,  # type: ignore[attr-defined]
    }


def session_detail(session: Session, battles: Iterable[Battle] | None = None) -> SessionPayload:
    """battles: where they are at hand, in order, ready to be shown."""
    shown = read_battles(session) if battles is None else battles
    return {**_session(session), "battles": [shown_battle(battle) for battle in shown]}


def _session(session: Session) -> SessionHeadPayload:
    return {
        "id": session.public_id,
        "title": session.title,
        "created_at": session.created_at,
        "last_active_at": session.last_active_at,
        "archived": session.archived,
    }
