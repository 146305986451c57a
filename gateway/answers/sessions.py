"""Last models of conversations, kept in Valkey for SESSION_TTL_S, or TOOL_LOOP_TTL_S after calls of tools.

Without Valkey each request is decided anew.
"""

import logging
import time

import msgspec
from django.utils.crypto import salted_hmac

from accounts.models import ApiToken
from battles.auto.port import PreviousAnswer
from battles.labels import Labels
from common.valkey.connections import UNREACHABLE, connection, fail_fast
from gateway.parsing.chat import ChatBody

logger = logging.getLogger(__name__)

SESSION_TTL_S = 3_600
# A tool may take longer than a person.
TOOL_LOOP_TTL_S = 24 * 3_600


class LastAnswer(msgspec.Struct, array_like=True):
    """at: seconds since 1970. Holds labels of prompts, but no text."""

    model: int
    at: float
    categories: list[str]
    language: str


def session_digest(token: ApiToken, chat: ChatBody, header: str) -> str:
    """Return a keyed digest of the asked name and the session, by default of its system prompt and first prompt."""
    given = header or chat.session_id
    session = f"given:{given}" if given else chat.conversation.opening
    return salted_hmac("gateway.answers.sessions", f"{token.pk}:{chat.model}:{session}", algorithm="sha256").hexdigest()


def find_previous_answer(digest: str, chat: ChatBody) -> PreviousAnswer | None:
    try:
        with fail_fast():
            stored = connection().get(_key(digest))
    except UNREACHABLE as error:
        logger.warning("a conversation's model is decided anew: Valkey is away (%s)", error)
        return None
    if not isinstance(stored, str):
        return None
    last = msgspec.json.decode(stored, type=LastAnswer)
    return PreviousAnswer(
        model=last.model, labels=Labels(tuple(last.categories), last.language),
        idle_s=max(0.0, time.time() - last.at), in_tool_loop=chat.is_in_tool_loop,
    )  # fmt: skip


def remember(digest: str, *, model: int, labels: Labels, calls_tools: bool) -> None:
    last = LastAnswer(model, time.time(), list(labels.categories), labels.language)
    try:
        with fail_fast():
            ttl_s = TOOL_LOOP_TTL_S if calls_tools else SESSION_TTL_S
            connection().set(_key(digest), msgspec.json.encode(last).decode(), ex=ttl_s)
    except UNREACHABLE as error:
        logger.warning("a conversation's model is not remembered: Valkey is away (%s)", error)


def _key(digest: str) -> str:
    return f"gateway:session:{digest}"
