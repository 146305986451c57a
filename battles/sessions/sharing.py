"""What anybody may read of a published battle: as it was then, and nothing that is its owner's alone."""

from typing import cast

from django.utils.translation import gettext as _

from battles.models import Share, Vote
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
from battles.payloads import shown_battle
from battles.prompting import prompt
from battles.queries import read_battle

_TITLE_CHARACTERS = 70


def shared_battle(share: Share) -> SharedBattlePage:
    """Like blind.shown_battle, for the same templates, but nobody can do anything with it.

    Its id is the share's; files are named and not to be had; of the vote there is the choice, not what was said
    about it.
    """
    shown = shown_battle(read_battle(share.battle_id))
    return {
        "id": share.public_id,
        "mode": shown["mode"],
        "state": "voted" if shown["vote"] else "open",
        "is_shared": True,
        "turns": [_turn(turn) for turn in shown["turns"][: share.turn_count]],
        "vote": {"choice": shown["vote"]["choice"]} if shown["vote"] else None,
        "sides": shown["sides"] or [],
        "created_at": shown["created_at"],
    }


def _turn(turn: TurnPayload) -> SharedTurnPage:
    return {
        "index": turn["index"],
        "prompt": turn["prompt"],
        "attachments": [{"name": file["name"], "kind": file["kind"]} for file in turn["attachments"]],
        "after_vote": turn["after_vote"],
        "is_live": False,
        "context_from": turn["context_from"],
        "answers": [_answer(answer) for answer in turn["answers"]],
    }


def _answer(answer: AnswerPayload) -> SharedAnswerPayload:
    """Without its id, with which its owner gives stars."""
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
    }


def told_to_all(share: Share) -> SharedBattlePayload:
    """The same for programs, with what its page says above and below."""
    battle = shared_battle(share)
    return {
        "id": battle["id"],
        "url": share.get_absolute_url(),
        "published_at": share.published_at,
        "title": title_of(battle),
        "verdict": description_of(battle),
        "mode": battle["mode"],
        "state": battle["state"],
        "turns": [_told(turn) for turn in battle["turns"]],
        "vote": battle["vote"],
        "sides": battle["sides"],
        "created_at": battle["created_at"],
    }


def _told(turn: SharedTurnPage) -> SharedTurnPayload:
    return {
        "index": turn["index"],
        "prompt": turn["prompt"],
        "attachments": turn["attachments"],
        "after_vote": turn["after_vote"],
        "context_from": turn["context_from"],
        "answers": turn["answers"],
    }


def title_of(shared: SharedBattlePage) -> str:
    """The first prompt's beginning: the session's title is its owner's, and may say something else."""
    return prompt.title_of(shared["turns"][0]["prompt"], at_most=_TITLE_CHARACTERS)


def description_of(shared: SharedBattlePage) -> str:
    """A sentence for where the page is linked: who answered, and what was found."""
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
    """For session_export: a session of this battle alone."""
    return {
        "id": shared["id"], "title": title_of(shared), "created_at": shared["created_at"], "battles": [shared],
    }  # fmt: skip
