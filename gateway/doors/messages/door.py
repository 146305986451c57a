"""Anthropic's Messages."""

from dataclasses import replace

from battles.prompting.messages import CHARACTERS_PER_TOKEN
from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.doors.messages.refusals import error_event, refusal_payload
from gateway.doors.messages.requests import chat_body
from gateway.doors.messages.writer import MessageWriter
from gateway.doors.port import Head
from gateway.parsing.chat import ChatBody, parse_chat
from gateway.parsing.json_body import decode_body


class Messages:
    comment = b'event: ping\ndata: {"type":"ping"}\n\n'

    def parse(self, body: bytes, caller: Caller) -> ChatBody:
        return _parse(body)

    def writer(self, head: Head, chat: ChatBody) -> MessageWriter:
        return MessageWriter(head, prompt_tokens=_tokens(chat))

    def refusal(self, error: ArenaError) -> JsonObject:
        return {**refusal_payload(error)}

    def error_event(self, error: ArenaError) -> bytes:
        return error_event(error)


def estimate_tokens(body: bytes) -> int:
    """Return an estimate of a request's tokens. Raises BadField."""
    return _tokens(_parse(body, needs_max_tokens=False))


def _tokens(chat: ChatBody) -> int:
    return -(-chat.characters // CHARACTERS_PER_TOKEN)


def _parse(body: bytes, *, needs_max_tokens: bool = True) -> ChatBody:
    chat, dropped = chat_body(decode_body(body), needs_max_tokens=needs_max_tokens)
    parsed = parse_chat(chat)
    return replace(parsed, dropped=(*dropped, *parsed.dropped))
