"""Messages of a conversation in OpenAI's shape: checked, and read for a decision."""

import re
from typing import NamedTuple

from django.conf import settings
from django.utils.translation import gettext as _

from battles.prompting.messages import message_length
from battles.prompting.prompt import clean_prompt
from common.errors import InvalidInput
from common.text.storable import has_unstorable

MAX_MESSAGES = 200
ROLES = ("system", "developer", "user", "assistant", "tool")
_IMAGE = re.compile(r"data:image/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=]*", re.ASCII)


class Conversation(NamedTuple):
    """prompts: texts of the user's turns in order. characters: of all messages, with calls of tools and images."""

    prompts: tuple[str, ...]
    characters: int
    has_images: bool = False
    has_tools: bool = False


class _Content(NamedTuple):
    text: str
    images: int = 0


def single_prompt(prompt: str) -> Conversation:
    """Raises InvalidInput."""
    cleaned = clean_prompt(prompt)
    return Conversation((cleaned,), len(cleaned))


def read_messages(messages: object) -> Conversation:
    """Raises InvalidInput naming `messages`."""
    if not isinstance(messages, list) or not messages:
        raise _refusal(_("Send a list of messages."))
    if len(messages) > MAX_MESSAGES:
        raise _refusal(
            _("Send at most %(most)d messages; these are %(n)d.") % {"most": MAX_MESSAGES, "n": len(messages)}
        )
    prompts: list[str] = []
    characters = images = 0
    open_calls: set[str] = set()
    has_tools = False
    for message in messages:
        role, content = _role_and_content(message)
        if role == "tool":
            call = message.get("tool_call_id")
            if not isinstance(call, str) or call not in open_calls:
                raise _refusal(_("A tool's result needs the call before it: its `tool_call_id` is unknown."))
            open_calls.discard(call)
        elif role == "assistant":
            calls = _tool_calls(message)
            open_calls = calls
            has_tools = has_tools or bool(calls)
        elif role == "user":
            prompts.append(content.text)
        characters += message_length({"content": None, **message})
        images += content.images
    if not prompts:
        raise _refusal(_("One message at least is the user's."))
    if messages[-1]["role"] not in ("user", "tool"):
        raise _refusal(_("The last message is the user's, or the result of a tool."))
    if not prompts[-1].strip() and not images:
        raise _refusal(_("Write a prompt first."))
    return Conversation(tuple(prompts), characters, images > 0, has_tools)


def _role_and_content(message: object) -> tuple[str, _Content]:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ROLES:
        raise _refusal(_("Each message has one of the roles: %(roles)s.") % {"roles": ", ".join(ROLES)})
    assert isinstance(message, dict)
    found = message.get("content")
    if found is None and role == "assistant":
        return role, _Content("")
    content = _content(found)
    if has_unstorable(content.text):
        raise _refusal(_("A message contains an invalid character (NUL or half of a surrogate pair)."))
    if role == "user" and len(content.text) > settings.ARENA_PROMPT_CHARACTERS:
        sentence = _("A message has %(n)d characters; the limit is %(most)d.")
        raise _refusal(sentence % {"n": len(content.text), "most": settings.ARENA_PROMPT_CHARACTERS})
    return role, content


def _content(found: object) -> _Content:
    if isinstance(found, str):
        return _Content(found)
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise _refusal(_("The content of a message is a text, or a list of parts."))
    texts, images = [], 0
    for part in found:
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif part.get("type") == "image_url":
            _check_image(part.get("image_url"))
            images += 1
        else:
            raise _refusal(_("The parts of a message are of the type `text` or `image_url`."))
    return _Content("\n".join(texts), images)


def _check_image(image: object) -> None:
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str) or _IMAGE.fullmatch(url) is None:
        raise _refusal(_("Send images as data URLs (PNG, JPEG, WebP or GIF); addresses are not fetched."))


def _tool_calls(message: dict[str, object]) -> set[str]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise _refusal(_("`tool_calls` is a list of calls, each with an `id`."))
    ids = [call.get("id") if isinstance(call, dict) else None for call in calls]
    if not all(isinstance(call, str) for call in ids):
        raise _refusal(_("`tool_calls` is a list of calls, each with an `id`."))
    return {str(call) for call in ids}


def _refusal(sentence: str) -> InvalidInput:
    return InvalidInput(sentence, fields={"messages": [sentence]})
