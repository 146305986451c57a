"""Sizes of texts and messages, from which tokens are estimated."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from common.conversation.contents import media_of, message_text
from common.payload_types import JsonObject

# Longer texts are judged by pieces of this length together.
MAX_SQUEEZED_CHARACTERS, SQUEEZED_PIECES = 100_000, 20
_RUNS = re.compile(r"(.)\1{4,}", re.DOTALL)


class TextSize(NamedTuple):
    """Bytes in UTF-8: a letter of most other scripts than ours has two, a Chinese character three.

    squeezed: with only two of many equal characters in a row, which may be a single token.
    """

    bytes: int
    squeezed: int

    @classmethod
    def of(cls, text: str) -> "TextSize":
        size = _bytes_of(text)
        if len(text) <= MAX_SQUEEZED_CHARACTERS:
            return cls(size, _bytes_of(_RUNS.sub(r"\1\1", text)))
        # Two million characters would take 70 ms.
        piece = MAX_SQUEEZED_CHARACTERS // SQUEEZED_PIECES
        step = len(text) // SQUEEZED_PIECES
        sample = "".join(text[start : start + piece] for start in range(0, step * SQUEEZED_PIECES, step))
        return cls(size, round(size * _bytes_of(_RUNS.sub(r"\1\1", sample)) / _bytes_of(sample)))


class MessagesSize(NamedTuple):
    """files: the most tokens of files that are no pictures."""

    messages: int
    characters: int
    text: TextSize
    images: int
    files: int

    @classmethod
    def of(cls, messages: Sequence[JsonObject]) -> "MessagesSize":
        text = "".join(map(message_text, messages))
        media = [medium for message in messages for medium in media_of(message)]
        images = sum(medium.is_image for medium in media)
        files = sum(medium.most_tokens for medium in media if not medium.is_image)
        return cls(len(messages), len(text), TextSize.of(text), images, files)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
