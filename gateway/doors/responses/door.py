"""OpenAI's Responses."""

import time
from dataclasses import replace

from common.api.openai_errors import openai_error
from common.conversation.errors import BadField
from common.errors import ArenaError
from common.ids import new_public_id
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.doors.port import Head
from gateway.doors.responses.requests import ECHO, chat_request
from gateway.doors.responses.writer import ResponseWriter
from gateway.models import Exchange
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.json_body import decode_body

_PREVIOUS = "previous_response_id"


class Responses:
    comment = b": still here\n\n"

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        decoded = decode_body(body)
        request = chat_request(decoded, _previous_messages(decoded.get(_PREVIOUS), caller))
        chat = parse_chat(request.body)
        echo: JsonObject = {name: decoded.get(name) or default for name, default in ECHO.items()}
        echo["store"] = caller.token.keeps_texts
        return replace(
            chat, dropped=(*request.dropped, *chat.dropped), has_instructions=bool(echo["instructions"]),
            for_door={"echo": echo, "calls": request.calls},
        )  # fmt: skip

    def writer(self, head: Head, chat: ChatBody) -> ResponseWriter:
        return ResponseWriter(head, **chat.for_door)

    def refusal(self, error: ArenaError) -> JsonObject:
        return {**openai_error(error)}

    def error_event(self, error: ArenaError) -> bytes:
        head = Head(new_public_id(), int(time.time()), "")
        return ResponseWriter(head, echo=ECHO, calls={}).error(error)


def _previous_messages(response_id: object, caller: Caller) -> list[JsonObject]:
    """Return the kept messages of an earlier response and its answer, without its instructions. Raises BadField."""
    if response_id is None:
        return []
    if not caller.token.keeps_texts:
        raise BadField("Responses are continued only for tokens that keep texts: send all items again.", _PREVIOUS)
    public_id = str(response_id).removeprefix("resp_")
    exchange = Exchange.objects.filter(public_id=public_id[:22], token=caller.token).exclude(texts=None).first()
    if exchange is None or exchange.texts is None:
        raise BadField("There is no such response of this token with kept texts: send all items again.", _PREVIOUS)
    messages: list[JsonObject] = [*exchange.texts["messages"], exchange.texts["answer"]]
    if not all(map(_has_only_texts, messages)):
        raise BadField("Pictures and files of that response were not kept: send all items again.", _PREVIOUS)
    return messages[bool(exchange.texts.get("has_instructions")) :]


def _has_only_texts(message: JsonObject) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return not isinstance(content, dict)
    return all(isinstance(part, dict) and part.get("type") == "text" for part in content)
