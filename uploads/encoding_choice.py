"""Encodings to choose from for a text that is not in Unicode."""

from typing import NamedTuple

from common.text.encodings import CODECS, Alternative, alternatives
from uploads.files import storage
from uploads.models import Upload


class EncodingChoice(NamedTuple):
    """shown: with their lines, the present one first. names: all."""

    shown: list[Alternative]
    names: list[str]


def encoding_choice(upload: Upload) -> EncodingChoice | None:
    """Return None if the file has no choice, or no longer has one."""
    if not upload.has_encoding_choice or upload.used_at is not None or not upload.is_kept:
        return None
    try:
        content = storage.read(upload.stored_as)
    except FileNotFoundError:
        return None
    return EncodingChoice(alternatives(content, upload.encoding), list(CODECS))
