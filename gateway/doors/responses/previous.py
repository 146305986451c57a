"""Responses that are continued by their ids."""

from common.conversation.errors import BadField
from common.payload_types import JsonObject
from gateway.authentication import Caller
from gateway.models import Exchange

_NAME = "previous_response_id"


def previous_messages(response_id: object, caller: Caller) -> list[JsonObject]:
    """Return the kept messages of an earlier response and its answer, without its instructions. Raises BadField."""
    if response_id is None:
        return []
    if not caller.token.keeps_texts:
        raise BadField("Responses are continued only for tokens that keep texts: send all items again.", _NAME)
    public_id = str(response_id).removeprefix("resp_")
    exchange = Exchange.objects.filter(public_id=public_id[:22], token=caller.token).exclude(texts=None).first()
    if exchange is None or exchange.texts is None:
        raise BadField("There is no such response of this token with kept texts: send all items again.", _NAME)
    messages: list[JsonObject] = [*exchange.texts["messages"], exchange.texts["answer"]]
    if not all(map(_has_only_texts, messages)):
        raise BadField("Pictures and files of that response were not kept: send all items again.", _NAME)
    return messages[bool(exchange.texts.get("has_instructions")) :]


def _has_only_texts(message: JsonObject) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return not isinstance(content, dict)
    return all(isinstance(part, dict) and part.get("type") == "text" for part in content)
