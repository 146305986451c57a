"""What each side is sent: its own history, in OpenAI's message format."""

from collections.abc import Sequence

from battles.models import Answer, Side, Turn
from models_registry.providers.base import Message

# A cautious guess for every language: most have more characters per token.
CHARACTERS_PER_TOKEN = 3


def messages_for(side: Side, turns: Sequence[Turn], *, context_from: int) -> list[Message]:
    """System prompt, the remembered turns since `context_from`, and the last turn's prompt.

    turns: all turns of the battle in order, with their answers prefetched; the last one is being asked.
    """
    messages = [{"role": "system", "content": side.model.system_prompt}] if side.model.system_prompt else []
    for turn in remembered(side, turns, context_from=context_from):
        messages.append({"role": "user", "content": turn.prompt})
        messages.append({"role": "assistant", "content": _answer_of(side, turn).text})
    messages.append({"role": "user", "content": turns[-1].prompt})
    return messages


def remembered(side: Side, turns: Sequence[Turn], *, context_from: int) -> list[Turn]:
    """The turns before the last one that the side hears again: what one of a pair did not answer, neither remembers."""
    earlier = [turn for turn in turns[:-1] if turn.index >= context_from]
    if side.remembers_alone:
        return [turn for turn in earlier if _answer_of(side, turn).can_be_judged]
    return [turn for turn in earlier if turn.can_be_judged()]


def first_turn_that_fits(sides: Sequence[Side], turns: Sequence[Turn], *, reply_tokens: int) -> int:
    """The earliest turn from which on the conversation fits every side's context.

    One number for all sides, so that both see the same turns and the cut tells nothing about either.
    """
    lengths = [side.model.context_length for side in sides if side.model.context_length]
    if not lengths:
        return 0
    room = (min(lengths) - reply_tokens) * CHARACTERS_PER_TOKEN
    for context_from in range(len(turns)):
        longest = max(
            sum(len(message["content"]) for message in messages_for(side, turns, context_from=context_from))
            for side in sides
        )
        if longest <= room:
            return turns[context_from].index
    return turns[-1].index


def _answer_of(side: Side, turn: Turn) -> Answer:
    return next(answer for answer in turn.answers.all() if answer.side_id == side.pk)
