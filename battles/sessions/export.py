"""Sessions as files, made from payloads: a blind battle without a vote stays blind."""

import json
from collections.abc import Callable, Iterable, Iterator

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from battles.models import Session
from battles.payload_types import (
    AnswerPayload,
    BattlePayload,
    ExportedAnswerPayload,
    ExportedBattlePayload,
    ExportedSessionPayload,
    MessagePayload,
    SessionPayload,
    SharedAnswerPayload,
    SharedBattlePage,
    SharedSession,
    SharedTurnPage,
    SideName,
    TurnPayload,
)
from battles.sessions.payloads import session_detail
from common.errors import InvalidInput
from models_registry.payload_types import ModelPayload

# A person's own session, or a published battle as a session.
ExportableSession = SessionPayload | SharedSession
ExportableBattle = BattlePayload | SharedBattlePage
ExportableTurn = TurnPayload | SharedTurnPage
ExportableAnswer = AnswerPayload | SharedAnswerPayload

SIDE_NAMES = {"left": gettext_lazy("Model A"), "right": gettext_lazy("Model B")}
CHOICE_WORDS = {
    "left": gettext_lazy("Answer A was found better."),
    "right": gettext_lazy("Answer B was found better."),
    "tie": gettext_lazy("A tie."),
    "both_bad": gettext_lazy("Both answers were found bad."),
}


def as_json(session: ExportableSession) -> ExportedSessionPayload:
    """Return the session with each side's conversation as messages in OpenAI's format."""
    return {
        "id": session["id"],
        "title": session["title"],
        "created_at": session["created_at"],
        "battles": [_battle(battle) for battle in session["battles"]],
    }


def _battle(battle: ExportableBattle) -> ExportedBattlePayload:
    names = _models(battle)
    return {
        "id": battle["id"],
        "mode": battle["mode"],
        "state": battle["state"],
        "created_at": battle["created_at"],
        "vote": battle["vote"]["choice"] if battle["vote"] else None,
        "sides": [
            {
                "side": side,
                "model": names[side]["id"] if side in names else None,
                "messages": list(_messages(battle, side)),
                "answers": [
                    _answer_facts(turn["index"], _answer(turn, side), is_revealed=side in names)
                    for turn in battle["turns"]
                ],
            }
            for side in _sides(battle)
        ],
    }


def _answer_facts(turn: int, answer: ExportableAnswer, *, is_revealed: bool) -> ExportedAnswerPayload:
    return {
        "turn": turn,
        "state": answer["state"],
        "error": answer["error"] if is_revealed else None,
        "finish": answer.get("finish"),
        "first_token_ms": answer.get("first_token_ms"),
        "total_ms": answer.get("total_ms"),
        "prompt_tokens": answer.get("prompt_tokens"),
        "completion_tokens": answer.get("completion_tokens"),
        "reasoning_tokens": answer.get("reasoning_tokens"),
        "cost": answer.get("cost"),
        "energy": answer.get("energy"),
        "stars": answer.get("stars"),
    }


def _messages(battle: ExportableBattle, side: str) -> Iterator[MessagePayload]:
    """Yield prompts and answers; a side without an answer has no assistant message."""
    for turn in battle["turns"]:
        files = [file["name"] for file in turn["attachments"]]
        prompt: MessagePayload = {"role": "user", "content": turn["prompt"]}
        if files:
            prompt["attachments"] = files
        yield prompt
        answer = _answer(turn, side)
        if answer["text"]:
            yield {"role": "assistant", "content": answer["text"]}


def as_markdown(session: ExportableSession) -> str:
    """Quote prompts; put each answer under its model's name."""
    parts = [f"# {session['title'] or _('Untitled')}"]
    for battle in session["battles"]:
        names = _models(battle)
        parts.append(f"## {' · '.join(_name(side, names) for side in _sides(battle))}")
        if battle.get("hidden"):
            parts.append(f"*{_('Hidden by the moderators.')}*")
            continue
        for turn in battle["turns"]:
            parts.append(_blockquote(turn["prompt"]))
            if turn["attachments"]:
                parts.append(f"**{_('Attached:')}** {', '.join(file['name'] for file in turn['attachments'])}")
            for side in _sides(battle):
                parts += [f"### {_name(side, names)}{_stars(_answer(turn, side))}", _answer_text(_answer(turn, side))]
        if battle["vote"]:
            parts.append(f"**{_('Vote:')}** {CHOICE_WORDS[battle['vote']['choice']]}")
    return "\n\n".join(parts) + "\n"


def _answer_text(answer: ExportableAnswer) -> str:
    return str(answer["text"] or answer["error_message"] or f"*{_('Not answered.')}*")


def _stars(answer: ExportableAnswer) -> str:
    stars = answer.get("stars")
    return f" {'★' * stars}{'☆' * (5 - stars)}" if stars else ""


def _blockquote(prompt: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in prompt.splitlines()) or ">"


def _sides(battle: ExportableBattle) -> Iterable[SideName]:
    return [answer["side"] for answer in battle["turns"][0]["answers"]]


def _models(battle: ExportableBattle) -> dict[str, ModelPayload]:
    """Return models by side; empty while the battle is blind."""
    return {side["side"]: side["model"] for side in battle["sides"] or ()}


def _name(side: str, models: dict[str, ModelPayload]) -> str:
    return str(models[side]["name"] if side in models else SIDE_NAMES[side])


def _answer(turn: ExportableTurn, side: str) -> ExportableAnswer:
    return next(answer for answer in turn["answers"] if answer["side"] == side)


def _json_text(session: ExportableSession) -> str:
    return json.dumps(as_json(session), cls=DjangoJSONEncoder, ensure_ascii=False, indent=2) + "\n"


FORMATS: dict[str, tuple[str, str, Callable[[ExportableSession], str]]] = {
    "json": ("json", "application/json", _json_text),
    "markdown": ("md", "text/markdown; charset=utf-8", as_markdown),
}


def session_file_response(session: Session, format_name: str) -> HttpResponse:
    """Raises InvalidInput for an unknown format."""
    return file_response(session_detail(session), format_name, name=f"session-{session.public_id}")


def file_response(session: ExportableSession, format_name: str, *, name: str) -> HttpResponse:
    """Raises InvalidInput for an unknown format."""
    if format_name not in FORMATS:
        problem = _("A session is exported as “markdown” or “json”.")
        raise InvalidInput(problem, fields={"as": [problem]})
    suffix, content_type, write = FORMATS[format_name]
    return HttpResponse(
        write(session),
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}.{suffix}"'},
    )
