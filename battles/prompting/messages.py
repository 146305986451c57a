"""What each side is sent: its own history, in OpenAI's message format."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.conf import settings

from battles.models import Answer, Side, Turn
from models_registry.models import LanguageModel
from models_registry.providers.base import MAX_TOKENS_PER_IMAGE, Content, Message, count_images, message_text

# A cautious guess for every language: most have more characters per token.
CHARACTERS_PER_TOKEN = 3


class Material(NamedTuple):
    """What models are sent of a file: its text, or a picture as a data URL."""

    text: str = ""
    image: str = ""


NO_MATERIAL: Mapping[str, Material] = {}


def messages_for(
    side: Side, turns: Sequence[Turn], *, context_from: int, material: Mapping[str, Material] = NO_MATERIAL
) -> list[Message]:
    """System prompt, the remembered turns since `context_from`, and the last turn's prompt.

    turns: all turns of the battle in order, with their answers prefetched; the last one is being asked.
    material: of all their files (battles.prompting.attachments.material_of).
    """
    messages: list[Message] = []
    if side.model.system_prompt:
        messages.append({"role": "system", "content": side.model.system_prompt})
    for turn in remembered(side, turns, context_from=context_from):
        messages.append({"role": "user", "content": content_of(turn, material)})
        messages.append({"role": "assistant", "content": _answer_of(side, turn).text})
    messages.append({"role": "user", "content": content_of(turns[-1], material)})
    return messages


def content_of(turn: Turn, material: Mapping[str, Material]) -> Content:
    """The turn's files and then its prompt; the same for every side."""
    if not turn.attached:
        return turn.prompt
    files = [material[file["id"]] for file in turn.attached]
    text = "\n\n".join([*(file.text for file in files if file.text), turn.prompt])
    images = [{"type": "image_url", "image_url": {"url": file.image}} for file in files if file.image]
    return [{"type": "text", "text": text}, *images] if images else text


def length_of(content: Content) -> int:
    """Characters, or what takes as much room."""
    message = {"content": content}
    return len(message_text(message)) + count_images(message) * MAX_TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN


def room_of(model: LanguageModel, *, reply_tokens: int | None = None) -> float:
    """How many characters a model can be sent; endless where nobody said how long its context is."""
    if not model.context_length:
        return float("inf")
    reply = settings.ARENA_MAX_TOKENS if reply_tokens is None else reply_tokens
    return (model.context_length - reply) * CHARACTERS_PER_TOKEN


def remembered(side: Side, turns: Sequence[Turn], *, context_from: int) -> list[Turn]:
    """The turns before the last one that the side hears again: what one of a pair did not answer, neither remembers."""
    earlier = [turn for turn in turns[:-1] if turn.index >= context_from]
    if side.has_own_context:
        return [turn for turn in earlier if _answer_of(side, turn).can_be_judged]
    return [turn for turn in earlier if turn.can_be_judged()]


def first_turn_that_fits(
    sides: Sequence[Side], turns: Sequence[Turn], *, reply_tokens: int, material: Mapping[str, Material] = NO_MATERIAL
) -> int:
    """The earliest turn from which on the conversation fits every side's context.

    One number for all sides, so that both see the same turns and the cut tells nothing about either.
    """
    room = min(room_of(side.model, reply_tokens=reply_tokens) for side in sides)
    if room == float("inf"):
        return 0
    for context_from in range(len(turns)):
        longest = max(
            sum(
                length_of(message["content"])
                for message in messages_for(side, turns, context_from=context_from, material=material)
            )
            for side in sides
        )
        if longest <= room:
            return turns[context_from].index
    return turns[-1].index


def _answer_of(side: Side, turn: Turn) -> Answer:
    return next(answer for answer in turn.answers.all() if answer.side_id == side.pk)
