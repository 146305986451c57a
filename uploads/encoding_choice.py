"""Encodings to choose from for a text that is not in Unicode."""

from typing import NamedTuple

from common.text.encodings import CODECS, first_foreign_line, likely_encodings
from uploads.files import storage
from uploads.models import Upload

MAX_SHOWN = 6


class Shown(NamedTuple):
    """line: the first one that the encoding changes."""

    name: str
    line: str


class EncodingChoice(NamedTuple):
    """shown: the likeliest ones that read the text differently, the present one first."""

    shown: list[Shown]
    names: list[str]


def encoding_choice(upload: Upload) -> EncodingChoice | None:
    """Return None if the file has no choice, or no longer has one."""
    if not upload.has_encoding_choice or upload.used_at is not None or not upload.is_kept:
        return None
    try:
        content = storage.read(upload.stored_as)
    except FileNotFoundError:
        return None
    lines: dict[str, str] = {}
    for name in [upload.encoding, *likely_encodings(content)]:
        lines.setdefault(first_foreign_line(content, name), name)
    shown = [Shown(name, line) for line, name in lines.items()]
    return EncodingChoice(shown[:MAX_SHOWN], list(CODECS))
