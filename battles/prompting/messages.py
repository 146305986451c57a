"""Messages of a side's conversation, in OpenAI's format."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings

from battles.models import Answer, Side, Turn
from common.conversation.contents import count_images, message_text
from models_registry.models import LanguageModel
from models_registry.providers.base import (
    CHARACTERS_PER_TOKEN as CHARACTERS_PER_TOKEN,
)
from models_registry.providers.base import MAX_TOKENS_PER_IMAGE, Content, Message


class AttachmentContent(NamedTuple):
    """Text of an attached file, or an image as a data URL."""

    text: str = ""
    image: str = ""


NO_CONTENTS: Mapping[str, AttachmentContent] = {}


def messages_for(
    side: Side, turns: Sequence[Turn], *, context_from: int, contents: Mapping[str, AttachmentContent] = NO_CONTENTS
) -> list[Message]:
    """Return the system prompt, the remembered turns since `context_from` and the last turn's prompt.

    turns: all turns of the battle in order, answers prefetched; the last one is unanswered.
    contents: of all attached files, from attachments.load_attachment_contents.
    """
    return with_system_prompt(side.model, conversation_for(side, turns, context_from=context_from, contents=contents))


def conversation_for(
    side: Side, turns: Sequence[Turn], *, context_from: int, contents: Mapping[str, AttachmentContent] = NO_CONTENTS
) -> list[Message]:
    """Return the messages of messages_for without those of the side's model."""
    messages: list[Message] = []
    for turn in remembered_turns(side, turns, context_from=context_from):
        messages.append({"role": "user", "content": turn_content(turn, contents)})
        messages.append({"role": "assistant", "content": _side_answer(side, turn).text})
    messages.append({"role": "user", "content": turn_content(turns[-1], contents)})
    return messages


def with_system_prompt(model: LanguageModel, messages: Iterable[Message]) -> list[Message]:
    """Return the messages after the model's system prompt, if it has one."""
    system: list[Message] = [{"role": "system", "content": model.system_prompt}] if model.system_prompt else []
    return [*system, *messages]


def turn_content(turn: Turn, contents: Mapping[str, AttachmentContent]) -> Content:
    """Return the turn's files followed by its prompt, equal for every side."""
    return content_with_files(turn.prompt, [contents[file["id"]] for file in turn.attached])


def content_with_files(prompt: str, files: Sequence[AttachmentContent]) -> Content:
    """Return the texts of files, the prompt, and images beside them."""
    if not files:
        return prompt
    text = "\n\n".join([*(file.text for file in files if file.text), prompt])
    images = [{"type": "image_url", "image_url": {"url": file.image}} for file in files if file.image]
    return [{"type": "text", "text": text}, *images] if images else text


def content_length(content: Content) -> int:
    """Return the length in characters; an image counts as the characters its tokens would hold."""
    return message_length({"content": content})


def message_length(message: Message) -> int:
    """Return the length of a message's content and tool calls, as content_length does."""
    return len(message_text(message)) + count_images(message) * MAX_TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN


def conversation_length(messages: Iterable[Message]) -> int:
    return sum(map(message_length, messages))


def context_characters(model: LanguageModel, *, reply_tokens: int | None = None) -> float:
    """Return how many characters fit a model's context; infinity if its length is unknown."""
    if not model.context_length:
        return float("inf")
    reply = settings.ARENA_MAX_TOKENS if reply_tokens is None else reply_tokens
    return (model.context_length - reply) * CHARACTERS_PER_TOKEN


def remembered_turns(side: Side, turns: Sequence[Turn], *, context_from: int) -> list[Turn]:
    """Return the earlier turns in the side's context; in a pair only turns that both sides answered."""
    earlier = [turn for turn in turns[:-1] if turn.index >= context_from]
    if side.has_own_context:
        return [turn for turn in earlier if _side_answer(side, turn).can_be_judged]
    return [turn for turn in earlier if turn.can_be_judged()]


def first_turn_in_context(
    sides: Sequence[Side],
    turns: Sequence[Turn],
    *,
    reply_tokens: int,
    contents: Mapping[str, AttachmentContent] = NO_CONTENTS,
) -> int:
    """Return the index of the earliest turn from which the conversation fits every side's context.

    All sides share it: they see the same turns, and the cut reveals nothing about either model.
    """
    limit = min(context_characters(side.model, reply_tokens=reply_tokens) for side in sides)
    if limit == float("inf"):
        return 0
    for context_from in range(len(turns)):
        longest = max(
            sum(
                content_length(message["content"])
                for message in messages_for(side, turns, context_from=context_from, contents=contents)
            )
            for side in sides
        )
        if longest <= limit:
            return turns[context_from].index
    return turns[-1].index


def _side_answer(side: Side, turn: Turn) -> Answer:
    return next(answer for answer in turn.answers.all() if answer.side_id == side.pk)
