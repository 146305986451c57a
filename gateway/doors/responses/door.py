"""OpenAI's Responses."""

import time
from dataclasses import replace

from common.api.openai_errors import openai_error
from common.errors import ArenaError
from common.ids import new_public_id
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.doors.port import Head
from gateway.doors.responses.previous import previous_messages
from gateway.doors.responses.requests import ECHO, chat_request
from gateway.doors.responses.writer import ResponseWriter
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.json_body import decode_body


class Responses:
    comment = b": still here\n\n"

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        decoded = decode_body(body)
        request = chat_request(decoded, previous_messages(decoded.get("previous_response_id"), caller))
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
