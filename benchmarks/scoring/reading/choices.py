"""The choice that an answer names: by its label, a letter or a number, or by its text."""

import re
import string
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from benchmarks.scoring.reading import choice_words as words
from benchmarks.scoring.reading.plain_text import plain_text

LabelKind = Literal["letters", "numbers", "roman"]
_ROMAN = (
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII",
    "XVIII", "XIX", "XX", "XXI", "XXII", "XXIII", "XXIV", "XXV", "XXVI",
)  # fmt: skip
_PATTERNS = {"letters": "[A-Za-z]", "numbers": r"\d{1,3}", "roman": "[IVXivx]{1,6}"}
_NOT_A_LABEL = r"(?![\w+#]|'\w|[-.,]\w)"
# Labels that are words, too.
_WORDS = frozenset("AIEOY")
_VALUE_CHARACTERS = 300
_MAX_TEXT = 1_000
# Earlier lines "Answer: B" are not read.
_MAX_LINES = 20


@dataclass(frozen=True)
class Named:
    """index: of the choice; is_text: its text was named, whose place in the prompt does not count."""

    index: int
    is_text: bool = False


@dataclass(frozen=True)
class _Value:
    """named: None for several choices, or for a label that no choice has; start and end: positions in the text."""

    named: Named | None
    start: int
    end: int


def labels_of(kind: LabelKind, count: int) -> tuple[str, ...]:
    if kind == "letters":
        return tuple(string.ascii_uppercase[:count])
    return _ROMAN[:count] if kind == "roman" else tuple(str(number) for number in range(1, count + 1))


def find_letter(text: str, choices: int) -> str | None:
    """Return the one letter that a text names, or None if it names none or two."""
    named = find_choice(text, choices)
    return None if named is None else string.ascii_uppercase[named.index]


def find_choice(text: str, count: int, texts: tuple[str, ...] = (), kind: LabelKind = "letters") -> Named | None:
    """Return the one choice that an answer names, or None if it names none or several.

    The last line "Answer: B" decides; then the last sentence "the answer is B"; then a letter alone or in brackets;
    then the only choice whose text is mentioned. What follows a correction ("wait, …") comes before all of them.
    """
    return _Answer(plain_text(text, words.ANSWER_HEADING), labels_of(kind, count), texts, kind).named()


class _Answer:
    def __init__(self, text: str, labels: tuple[str, ...], texts: tuple[str, ...], kind: LabelKind) -> None:
        self._text, self._labels, self._kind = text, labels, kind
        self._label = re.compile(rf"(?<![\w'])({_PATTERNS[kind]}){_NOT_A_LABEL}")
        plain = [" ".join(plain_text(choice, words.ANSWER_HEADING).casefold().split()) for choice in texts]
        self._texts = sorted(
            ((choice, index) for index, choice in enumerate(plain) if choice and len(choice) <= _MAX_TEXT),
            key=lambda pair: -len(pair[0]),
        )

    def named(self) -> Named | None:
        whole = self._text.strip(" \n()[]{}.,:;!'")
        if (index := self._index_of_text(whole)) is not None:
            return Named(index, is_text=True)
        if match := self._label.fullmatch(whole):
            return self._of_label(match)
        value = self._declared()
        for find in (self._leading, self._in_brackets, self._mentioned):
            value = value or find()
        return value.named if value else None

    def _declared(self) -> _Value | None:
        """Return the last value that a line or a sentence declares; those after a correction come first."""
        end = len(self._text)
        starts = [0, *(match.start() for match in words.CORRECTION.finditer(self._text))]
        for start in reversed(starts):
            for find in (self._of_lines, self._of_sentences, self._of_clauses):
                if value := find(start, end):
                    return value
            end = start
        return None

    def _of_lines(self, start: int, end: int) -> _Value | None:
        declared: list[tuple[int, _Value]] = []
        for match in list(words.LINE.finditer(self._text, start, end))[-_MAX_LINES:]:
            value = self._value(match.end()) or self._in_line(match.end())
            if value is not None:
                declared.append((match.start(), value))
        if end == len(self._text) and (last := self._last_line()) and last.start >= start:
            declared.append((last.start, last))
        if not declared:
            return None
        last = declared[-1][1]
        for _, before in declared[:-1]:
            is_other = before.named not in (None, last.named) and before.end <= declared[-1][0]
            if is_other and words.ONLY_AND_OR.fullmatch(self._text, before.end, declared[-1][0]):
                return _Value(None, before.start, last.end)
        return last

    def _in_line(self, start: int) -> _Value | None:
        """Return what a declared line names somewhere: "Answer: Paris (B)"."""
        end = self._text.find("\n", start, start + _VALUE_CHARACTERS)
        end = min(len(self._text), start + _VALUE_CHARACTERS) if end < 0 else end
        return self._of_sentences(start, end) or self._in_brackets(start, end) or self._mentioned(start, end)

    def _last_line(self) -> _Value | None:
        start = self._text.rfind("\n") + 1
        match = self._label.fullmatch(self._text[start:].strip(" ()[]{}.,:;!'")) if start else None
        return _Value(self._of_label(match), start, len(self._text)) if match else None

    def _of_sentences(self, start: int, end: int) -> _Value | None:
        candidates = [self._value(match.end()) for match in words.SENTENCE.finditer(self._text, start, end)]
        values = [value for value in candidates if value is not None and not self._text.startswith("?", value.end)]
        for match in self._label.finditer(self._text, start, end):
            if words.IS_RIGHT.match(self._text, match.end()) and not self._is_word(match):
                before = self._text[max(0, match.start() - 30) : match.start()]
                is_one_of_several = re.search(r"(?<!\w)\w{1,6}\s?(?:,|/|&|or|ou|oder|and|et)\s?(?:option )?\Z", before)
                if self._of_label(match) or is_one_of_several:
                    named = None if is_one_of_several and self._label.search(before) else self._of_label(match)
                    values.append(_Value(named, match.start(), match.end()))
        return max(values, key=lambda value: value.start, default=None)

    def _of_clauses(self, start: int, end: int) -> _Value | None:
        values = [
            value
            for match in words.CLAUSE.finditer(self._text, start, end)
            if (value := self._value(match.end())) and words.CLAUSE_END.match(self._text, value.end)
        ]
        return values[-1] if values else None

    def _leading(self) -> _Value | None:
        """Return the label or text with which the lines begin, if they begin with one only."""
        values: list[_Value] = []
        for number, match in enumerate(re.finditer(r"[^\n]+", self._text)):
            line = match[0]
            lead = words.LEAD.match(line)
            assert lead is not None
            at = match.start() + lead.end()
            label = self._label.match(self._text, at)
            if label:
                rest = self._text[label.end() : match.end()]
                is_marked = bool(lead[1]) or bool(re.match(r"[)\].:,]|\s+[-–—]\s|\s*\Z", rest))
                if is_marked and not words.IS_WRONG.match(rest):
                    values.append(self._value(at) or _Value(None, at, at))
            elif (
                number == 0 and (value := self._text_at(at)) and re.match(r"\s*(?:[.,;:!]|\Z)", self._text[value.end :])
            ):
                values.append(self._value(at) or value)
        return _only(values)

    def _in_brackets(self, start: int = 0, end: int | None = None) -> _Value | None:
        end = len(self._text) if end is None else end
        values = []
        for match in self._label.finditer(self._text, start, end):
            before, after = self._text[max(0, match.start() - 40) : match.start()], self._text[match.end() :][:40]
            is_marked = before.endswith("(") and after.startswith(")")
            is_marked |= re.search(r"(?<!\w)(?:option|opción)\s\(?\Z", before, re.IGNORECASE) is not None
            if is_marked and not words.NEGATION.search(before) and not words.IS_WRONG.match(after):
                values.append(_Value(self._of_label(match), match.start(), match.end()))
        return _only(values)

    def _mentioned(self, start: int = 0, end: int | None = None) -> _Value | None:
        """Return the only choice whose text is mentioned and not negated; longer texts hide those in them."""
        text = self._text[start:end].casefold()
        mentioned: set[Named] = set()
        is_read = bytearray(len(text))
        for choice, index in self._texts:
            for match in _bounded(choice).finditer(text):
                if any(is_read[match.start() : match.end()]):
                    continue
                is_read[match.start() : match.end()] = b"\1" * len(match[0])
                is_negated = words.NEGATION.search(text[max(0, match.start() - 40) : match.start()])
                is_negated = is_negated or words.IS_WRONG.match(text, match.end())
                if not is_negated:
                    mentioned.add(Named(index, is_text=True))
        return _Value(mentioned.pop() if len(mentioned) == 1 else None, start, start) if mentioned else None

    def _value(self, start: int) -> _Value | None:
        """Return the choice or choices that a text names from a position on; None if it names none there."""
        if self._text.startswith("?", start):
            return None
        first = self._one(start)
        if first is None:
            filler = words.FILLER.match(self._text, start)
            first = self._one(filler.end()) if filler else None
        if first is None or first.named is None:
            return first
        joined = words.AND_OR.match(self._text, first.end)
        second = self._one(joined.end()) if joined else None
        if second and second.named != first.named and not words.IS_SINGULAR.match(self._text, second.end):
            return _Value(None, first.start, second.end)
        return first

    def _one(self, start: int) -> _Value | None:
        while start < len(self._text) and self._text[start] in " \n":
            start += 1
        if value := self._text_at(start):
            return value
        if words.NEGATIVE.match(self._text, start):
            return None
        match = self._label.match(self._text, start)
        if match is None or self._is_word(match):
            return None
        return _Value(self._of_label(match), match.start(), match.end())

    def _text_at(self, start: int) -> _Value | None:
        rest = self._text[start : start + _VALUE_CHARACTERS + _MAX_TEXT].casefold()
        for choice, index in self._texts:
            if match := _bounded(choice).match(rest):
                return _Value(Named(index, is_text=True), start, start + match.end())
        return None

    def _index_of_text(self, whole: str) -> int | None:
        folded = " ".join(whole.casefold().split())
        return next((index for choice, index in self._texts if choice.strip(" .") == folded and choice), None)

    def _is_word(self, match: "re.Match[str]") -> bool:
        """Return whether a label may be a word of a sentence, such as "a"."""
        if self._kind == "numbers" or (match[1].isupper() and match[1] not in _WORDS):
            return False
        return words.NO_NOUN.match(self._text, match.end()) is None

    def _of_label(self, match: "re.Match[str]") -> Named | None:
        label = match[1].upper()
        return Named(self._labels.index(label)) if label in self._labels else None


def _only(values: list[_Value]) -> _Value | None:
    """Return the value on which all agree; one without a choice if they differ."""
    if len({value.named for value in values}) > 1:
        return _Value(None, values[0].start, values[-1].end)
    return values[0] if values else None


@lru_cache(maxsize=256)
def _bounded(text: str) -> "re.Pattern[str]":
    """Return a pattern of a text between words, with any space in it; a number's neighbours are no digits."""
    inside = r"\s+".join(re.escape(part) for part in text.split())
    return re.compile(rf"(?<!\w)(?<!\d[.,]){inside}(?!\w|[.,]\d)")
