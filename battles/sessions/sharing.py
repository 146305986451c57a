"""Payloads of published battles, and of sessions shared with a team, without the owner's private data."""

from itertools import takewhile
from typing import cast

from django.utils.translation import gettext as _

from battles.models import Battle, Session, Share, Vote
from battles.payload_types import (
    AnswerPayload,
    EndState,
    SharedAnswerPayload,
    SharedBattlePage,
    SharedBattlePayload,
    SharedSession,
    SharedTurnPage,
    SharedTurnPayload,
    TurnPayload,
)
from battles.payloads import battle_payload
from battles.prompting import prompt
from battles.queries import get_battle, get_session_battles

_TITLE_CHARACTERS = 70


def shared_battle_page(share: Share) -> SharedBattlePage:
    """Return a read-only battle for the templates of own battles.

    Its id is the share's; attachments have names but no links; the vote has its choice but no feedback.
    """
    return _battle_page(get_battle(share.battle_id), public_id=share.public_id, turn_count=share.turn_count)


def team_session_battles(session: Session) -> list[SharedBattlePage]:
    """Return the session's battles whose names its owner knows, with the turns that are answered.

    A member who has not voted must not learn the models of an open blind battle from another's page.
    """
    pages = []
    for battle in get_session_battles(session):
        done = list(takewhile(lambda turn: not turn.is_live, battle.turns.all()))
        if done and not (battle.hides_names or battle.is_void or battle.is_hidden or battle.is_review):
            pages.append(_battle_page(battle, public_id=battle.public_id, turn_count=len(done)))
    return pages


def _battle_page(shown: Battle, *, public_id: str, turn_count: int) -> SharedBattlePage:
    battle = battle_payload(shown)
    return {
        "id": public_id,
        "mode": battle["mode"],
        "state": "voted" if battle["vote"] else "open",
        "is_shared": True,
        "turns": [_turn_page(turn) for turn in battle["turns"][:turn_count]],
        "vote": {"choice": battle["vote"]["choice"]} if battle["vote"] else None,
        "sides": battle["sides"] or [],
        "created_at": battle["created_at"],
    }


def _turn_page(turn: TurnPayload) -> SharedTurnPage:
    return {
        "index": turn["index"],
        "prompt": turn["prompt"],
        "attachments": [{"name": file["name"], "kind": file["kind"]} for file in turn["attachments"]],
        "after_vote": turn["after_vote"],
        "is_live": False,
        "context_from": turn["context_from"],
        "answers": [_answer_payload(answer) for answer in turn["answers"]],
    }


def _answer_payload(answer: AnswerPayload) -> SharedAnswerPayload:
    """Return the answer without its id, which allows rating it."""
    return {
        "side": answer["side"],
        "state": cast(EndState, answer["state"]),
        "text": answer["text"],
        "html": answer["html"],
        "error": answer["error"],
        "error_message": answer["error_message"],
        "stars": answer.get("stars"),
        "reasoning": answer["reasoning"],
        "prompt_tokens": answer["prompt_tokens"],
        "completion_tokens": answer["completion_tokens"],
        "reasoning_tokens": answer["reasoning_tokens"],
        "cost": answer["cost"],
        "first_token_ms": answer["first_token_ms"],
        "total_ms": answer["total_ms"],
        "finish": answer["finish"],
        "energy": answer["energy"],
    }


def shared_battle_payload(share: Share) -> SharedBattlePayload:
    battle = shared_battle_page(share)
    return {
        "id": battle["id"],
        "url": share.get_absolute_url(),
        "published_at": share.published_at,
        "title": share_title(battle),
        "verdict": share_description(battle),
        "mode": battle["mode"],
        "state": battle["state"],
        "turns": [_turn_payload(turn) for turn in battle["turns"]],
        "vote": battle["vote"],
        "sides": battle["sides"],
        "created_at": battle["created_at"],
    }


def _turn_payload(turn: SharedTurnPage) -> SharedTurnPayload:
    return {
        "index": turn["index"],
        "prompt": turn["prompt"],
        "attachments": turn["attachments"],
        "after_vote": turn["after_vote"],
        "context_from": turn["context_from"],
        "answers": turn["answers"],
    }


def share_title(shared: SharedBattlePage) -> str:
    """Return the beginning of the first prompt; the session's title is private to its owner."""
    return prompt.title_from_prompt(shared["turns"][0]["prompt"], max_length=_TITLE_CHARACTERS)


def share_description(shared: SharedBattlePage) -> str:
    """Return a sentence for link previews: the models and the verdict."""
    names = [side["model"]["name"] for side in shared["sides"]]
    if not shared["vote"]:
        return _("Answered by %(models)s.") % {"models": ", ".join(names)}
    verdicts: dict[str, str] = {
        Vote.Choice.LEFT: _("%(left)s was found better than %(right)s."),
        Vote.Choice.RIGHT: _("%(right)s was found better than %(left)s."),
        Vote.Choice.TIE: _("%(left)s and %(right)s were found equally good."),
        Vote.Choice.BOTH_BAD: _("The answers of %(left)s and %(right)s were both found bad."),
    }
    return verdicts[shared["vote"]["choice"]] % {"left": names[0], "right": names[1]}


def as_session(shared: SharedBattlePage) -> SharedSession:
    """Return a session with only this battle, for sessions.export."""
    return {
        "id": shared["id"], "title": share_title(shared), "created_at": shared["created_at"], "battles": [shared],
    }  # fmt: skip
