"""Regular expressions in linear time, by RE2."""

from functools import lru_cache
from typing import Protocol

import re2

from benchmarks.scoring.refusals import Refusal


class Match(Protocol):
    def group(self, index: int = 0, /) -> str | None: ...
    def start(self) -> int: ...


class Pattern(Protocol):
    groups: int

    def search(self, text: str, /) -> Match | None: ...
    def fullmatch(self, text: str, /) -> Match | None: ...
    def finditer(self, text: str, /) -> "list[Match]": ...
    def sub(self, replacement: str, text: str, /) -> str: ...


# Bytes that a compiled pattern and its cache may take; without it 8 MB, for each of 128 cached ones.
MAX_PATTERN_BYTES = 1 << 20


@lru_cache(maxsize=128)
def compile_pattern(pattern: str, ignore_case: bool = False, dot_all: bool = False) -> Pattern:
    """Raises Refusal with RE2's reason, such as for a back-reference."""
    options = re2.Options()
    options.log_errors, options.case_sensitive, options.dot_nl = False, not ignore_case, dot_all
    options.max_mem = MAX_PATTERN_BYTES
    try:
        compiled: Pattern = re2.compile(pattern, options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        reason = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
        raise Refusal("pattern_refused", pattern=repr(pattern[:200]), reason=reason) from None
    return compiled
