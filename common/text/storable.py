"""Storable text: PostgreSQL refuses NUL, UTF-8 refuses lone surrogates."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    return _UNSTORABLE.sub(REPLACEMENT, text)


def has_unstorable(text: str) -> bool:
    return _UNSTORABLE.search(text) is not None
