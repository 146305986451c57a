"""Steps that take the part of an answer that a check compares."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from benchmarks.scoring.json_texts import NotJson, read_json, resolve_pointer, write_json
from benchmarks.scoring.patterns import compile_pattern
from benchmarks.scoring.reading.choices import find_letter
from benchmarks.scoring.reading.numerals import find_numerals
from benchmarks.scoring.reading.plain_text import without_reasoning
from benchmarks.scoring.refusals import Refusal

_FENCE = compile_pattern(r"(?m)^[ \t]*(?:```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*\n((?s:.*?))^[ \t]*(?:```+|~~~+)[ \t]*$")


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="step"):
    """One step; returns None where the text lacks what it looks for."""

    def take(self, text: str) -> str | None:
        raise NotImplementedError


class StripReasoning(Step, frozen=True, tag="strip_reasoning"):
    def take(self, text: str) -> str | None:
        return without_reasoning(text)


class FirstLine(Step, frozen=True, tag="first_line"):
    def take(self, text: str) -> str | None:
        return next((line.strip() for line in text.splitlines() if line.strip()), None)


class LastLine(Step, frozen=True, tag="last_line"):
    def take(self, text: str) -> str | None:
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), None)


class CodeFence(Step, frozen=True, tag="code_fence"):
    """Fenced block number `index`, counted from 0, or from the end if negative."""

    index: int = 0
    language: str = ""

    def take(self, text: str) -> str | None:
        blocks = [
            code for language, code in fenced_blocks(text) if language == self.language.lower() or not self.language
        ]
        return blocks[self.index] if -len(blocks) <= self.index < len(blocks) else None


class Regex(Step, frozen=True, tag="regex"):
    """any_group: the first group that matched some text, as lm-evaluation-harness takes one of several."""

    pattern: str
    group: int = 0
    any_group: bool = False
    which: Literal["first", "last"] = "first"
    ignore_case: bool = False

    def __post_init__(self) -> None:
        groups = compile_pattern(self.pattern, self.ignore_case).groups
        if not 0 <= self.group <= groups:
            raise Refusal("pattern_group_missing", groups=groups, group=self.group)

    def take(self, text: str) -> str | None:
        value = None
        for match in compile_pattern(self.pattern, self.ignore_case).finditer(text):
            value = match.group(self.group)
            if self.any_group:
                groups = compile_pattern(self.pattern, self.ignore_case).groups
                value = next((group for group in map(match.group, range(1, groups + 1)) if group), None)
            if self.which == "first":
                break
        return value


class JsonPointer(Step, frozen=True, tag="json_pointer"):
    """The value at an RFC 6901 pointer; other values than texts as JSON."""

    pointer: str

    def __post_init__(self) -> None:
        if self.pointer and not self.pointer.startswith("/"):
            raise Refusal("pointer_without_slash")

    def take(self, text: str) -> str | None:
        try:
            return write_json(resolve_pointer(read_json(text, anywhere=True), self.pointer))
        except (NotJson, LookupError):
            return None


class Letter(Step, frozen=True, tag="letter"):
    choices: int = 4

    def __post_init__(self) -> None:
        if not 2 <= self.choices <= 26:
            raise Refusal("choices_out_of_range")

    def take(self, text: str) -> str | None:
        return find_letter(text, self.choices)


class LastNumber(Step, frozen=True, tag="last_number"):
    decimal_comma: bool = False

    def take(self, text: str) -> str | None:
        numerals = find_numerals(text, decimal_comma=self.decimal_comma)
        return numerals[-1].written if numerals and numerals[-1].value is not None else None


AnyStep = StripReasoning | FirstLine | LastLine | CodeFence | Regex | JsonPointer | Letter | LastNumber


def extract(text: str, steps: Sequence[AnyStep]) -> str | None:
    """Return the part that all steps take one after another, or None."""
    part: str | None = text
    for step in steps:
        if part is None:
            return None
        part = step.take(part)
    return part


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Return (language in lower case or "", code) of closed code fences."""
    return [
        ((match.group(1) or "").lower(), (match.group(2) or "").removesuffix("\n"))
        for match in _FENCE.finditer(text + "\n")
    ]
