"""Separation of reasoning from the answer in content, for servers that do not separate it; docs/adr/0064.

Tags in any spelling, a closing tag without an opening one, and channels; a sentence that mentions a tag stays text.
"""

import re
from enum import Enum, auto

from models_registry.providers.oddities import Oddity
from models_registry.providers.reading.marks import (
    MARK,
    MAX_MARK,
    OPENERS,
    PARTIAL,
    QUOTES,
    AnswerLines,
    closes,
    is_in_quotes,
    is_tag,
)

_OPENING_QUOTES, _CLOSING_QUOTES = frozenset("`'\"“«‘("), frozenset("`”»’)")
_PUNCTUATION = frozenset(".,;:!?…")
# A pair of tags around less is a mention if the sentence goes on behind it.
_MAX_MENTION = 40
# A possible block in the middle of a line that has not ended by then is text.
_MAX_HELD_IN_LINE = 4_000
# gpt-oss without its special tokens.
_BARE_CHANNEL, _BARE_FINAL = "analysis", "assistantfinal"
_ANSWER_CHANNELS = frozenset({"final", "answer", "response", "output", ""})
_MAX_HEADER = 300


class _Mode(Enum):
    START = auto()  # nothing but white space so far
    TEXT = auto()
    REASONING = auto()  # passed on as it comes
    UNSURE = auto()  # held back until a closing tag or the end decides
    HEADER = auto()  # of a channel


class ReasoningTags:
    """Incremental reader of content. It holds back characters that may begin a mark."""

    def __init__(self, *, may_begin_inside: bool = False) -> None:
        """may_begin_inside: an earlier answer of the model closed a tag that it had not opened."""
        self.takes_back = False  # all text passed on before is reasoning; reset by the caller
        self.oddities: set[Oddity] = set()
        self._held = ""
        self._scanned = 0
        self._mode = _Mode.UNSURE if may_begin_inside else _Mode.START
        self._begins_inside = may_begin_inside
        self._opening = ""  # of the held block
        self._is_line_start = True
        self._waits = False  # for the characters behind a closing tag
        self._has_blocks = self._is_in_channels = False
        self._channel = ""
        self._last = ""  # piece of reasoning
        self._closes_with = ""
        self._skips_space = False
        self._special = ""
        self._texts: list[str] = []
        self._reasonings: list[str] = []
        self._lines = AnswerLines()

    def part(self, text: str) -> tuple[str, str]:
        """Return (text, reasoning) that is certain after this piece."""
        if not self._held:
            mode = self._mode
            if "<" not in text and "[" not in text and "◁" not in text:
                if mode is _Mode.TEXT and not self._skips_space and not self._special:
                    self._lines.pieces.append(text)
                    return text, ""
                if mode is _Mode.REASONING:
                    self._last = text
                    return "", text
        elif self._mode is _Mode.UNSURE and not self._may_close(text):
            self._held += text
            return "", ""
        return self._read(text, is_end=False)

    def rest(self, *, is_cut_by_length: bool = False) -> tuple[str, str]:
        """Return (text, reasoning) that was held back, at the end of the answer."""
        text, reasoning = self._read("", is_end=True)
        held, self._held = self._held, ""
        if self._mode is _Mode.UNSURE:
            is_reasoning = is_cut_by_length and self._is_line_start
            return (text, reasoning + held) if is_reasoning else (text + self._opening + held, reasoning)
        if self._mode is _Mode.REASONING:
            return text, reasoning + held
        return text + held, reasoning

    def _may_close(self, text: str) -> bool:
        """Return whether a mark may be complete with this piece."""
        return self._waits or bool(self._closes_with) or any(sign in text for sign in (">", "]", "▷"))

    def _read(self, text: str, *, is_end: bool) -> tuple[str, str]:
        self._held += text
        self._texts, self._reasonings = [], []
        steps = {
            _Mode.START: self._start,
            _Mode.TEXT: self._text,
            _Mode.REASONING: self._reasoning,
            _Mode.UNSURE: self._unsure,
            _Mode.HEADER: self._header,
        }
        while self._held and steps[self._mode](is_end):
            pass
        return "".join(self._texts), "".join(self._reasonings)

    def _give(self, length: int) -> None:
        """Pass on the first characters of what is held, as text."""
        text, self._held, self._scanned = self._held[:length], self._held[length:], 0
        if self._skips_space and text:
            text = text.lstrip()
            self._skips_space = not text
        if text and self._special:
            is_last = not text.strip()  # unless more than white space follows
            text, self._special = ("", self._special + text) if is_last else (self._special + text, "")
        if text:
            self._texts.append(text)
            self._lines.pieces.append(text)

    def _give_reasoning(self, length: int) -> None:
        text, self._held, self._scanned = self._held[:length], self._held[length:], 0
        self._reasonings.append(text)
        self._last = text or self._last

    def _drop(self, length: int) -> None:
        self._held, self._scanned = self._held[length:], 0

    def _start(self, is_end: bool) -> bool:
        stripped = self._held.lstrip()
        if not stripped:
            return False
        if _BARE_CHANNEL.startswith(stripped[: len(_BARE_CHANNEL)]) and not is_end:
            if len(stripped) <= len(_BARE_CHANNEL):
                return False
            if stripped[len(_BARE_CHANNEL)].isupper():
                self._drop(len(self._held) - len(stripped) + len(_BARE_CHANNEL))
                self._hold(_BARE_CHANNEL, is_line_start=True)
                self._closes_with = _BARE_FINAL
                return True
        if stripped[0] not in OPENERS:
            self._mode = _Mode.TEXT
            return True
        mark = MARK.match(stripped)
        if mark is None or (mark["tag"] and not is_tag(mark)):
            if PARTIAL.fullmatch(stripped[:MAX_MARK]) and not is_end:
                return False
            self._mode = _Mode.TEXT
            return True
        self._drop(len(self._held) - len(stripped))
        if mark["special"]:
            self._leave_out_special(mark.end())
            return True
        self._mode = _Mode.TEXT
        return True

    def _text(self, is_end: bool) -> bool:
        mark = MARK.search(self._held)
        if mark is None:
            self._give(len(self._held) if is_end else self._partial_mark())
            return False
        if mark["tag"] and not is_tag(mark):
            self._give(mark.end())
            return True
        if mark["special"]:
            self._give(mark.start())
            self._leave_out_special(mark.end() - mark.start())
            return True
        if mark["channel"]:
            return self._enter_channel(mark)
        if len(self._held) < mark.end() + 2 and not is_end:
            self._give(mark.start())
            return False
        before, after = self._held[: mark.start()], self._held[mark.end() : mark.end() + 2]
        line, is_code = self._lines.line_with(before)
        # Elements of XML that a prompt may have asked for.
        is_element = "reason" in mark[0].lower() and (self._lines.has_text or bool(before.strip()))
        if is_code or is_element or self._is_quoted(line[-1:], after[:1], closes=closes(mark)):
            self._give(mark.end())
        elif closes(mark):
            self._close_unopened(mark, line, after)
        else:
            self._open(mark, line, after)
        return True

    def _is_quoted(self, before: str, after: str, *, closes: bool) -> bool:
        if closes and before != "(":  # a sentence may end with a quotation before it
            return before in QUOTES and after in QUOTES
        return before in _OPENING_QUOTES or after in _CLOSING_QUOTES

    def _partial_mark(self) -> int:
        """Return where a mark may begin at the end of what is held."""
        tail = max(0, len(self._held) - MAX_MARK)
        at = max(self._held.rfind(opener, tail) for opener in OPENERS)
        return at if at >= 0 and PARTIAL.fullmatch(self._held, at) else len(self._held)

    def _leave_out_special(self, length: int) -> None:
        """Leave out a special token at the beginning or at the end; elsewhere it comes before the next text."""
        token = self._held[:length]
        if token.lower() == "</s>" and "<s>" in self._lines.line_with("")[0]:  # struck out, in HTML
            self._give(length)
            return
        if self._lines.has_text or self._texts:
            self._special += token
        self._drop(length)
        self._mode = _Mode.TEXT if self._lines.has_text or self._texts else _Mode.START
        self.oddities.add(Oddity.CONTROL_MARK)

    def _open(self, mark: re.Match[str], line: str, after: str) -> None:
        is_line_start = not line.strip()
        follows = after[:1]
        if follows and follows in _PUNCTUATION and follows != "…":
            self._give(mark.end())
            return
        self._give(mark.start())
        self._drop(mark.end() - mark.start())
        if is_line_start and follows not in ("", " "):
            self._mode = _Mode.REASONING
            self._note_block()
        else:
            self._hold(mark[0], is_line_start=is_line_start)

    def _hold(self, opening: str, *, is_line_start: bool) -> None:
        self._mode, self._opening, self._is_line_start, self._waits = _Mode.UNSURE, opening, is_line_start, False

    def _release(self) -> None:
        """Turn what is held into text again, behind its opening tag."""
        self._held, self._scanned = self._opening + self._held, 0
        self._give(len(self._opening))
        self._mode = _Mode.TEXT

    def _note_block(self) -> None:
        self._has_blocks = True
        self.oddities.add(Oddity.TAGGED_REASONING)

    def _close_unopened(self, mark: re.Match[str], line: str, after: str) -> None:
        last, follows = line[-1:], after[:1]
        is_line_start = not line.strip()
        ends_sentence = line.rstrip()[-1:] in (".", "!", "?", "…", ":", ")", '"', "”", "*")
        if self._has_blocks or self._is_in_channels:
            is_real = False
        elif is_line_start or (last and not last.isspace()):
            is_real = (
                follows in ("", "\n", "<")
                or (follows == " " and ends_sentence)
                or (not follows.isspace() and follows not in _PUNCTUATION)
            )
        else:
            is_real = follows in ("", "\n") and ends_sentence
        if not is_real:
            self._give(mark.end())
            return
        self._give_reasoning(mark.start())
        self._drop(mark.end() - mark.start())
        self._reasonings = [*self._texts, *self._reasonings]
        self._texts = []
        self.takes_back = self._lines.has_text
        self._lines = AnswerLines()
        self._end_block()
        self.oddities.add(Oddity.UNOPENED_REASONING)

    def _end_block(self) -> None:
        self._note_block()
        self._mode, self._closes_with, self._opening = _Mode.TEXT, "", ""
        self._begins_inside = False
        if not (self._lines.has_text or self._texts):
            self._mode, self._skips_space = _Mode.START, True

    def _reasoning(self, is_end: bool) -> bool:
        for mark in MARK.finditer(self._held, self._scanned):
            if self._is_in_channels and mark["channel"]:
                self._give_reasoning(mark.start())
                return self._enter_channel(None)
            if mark["tag"] and closes(mark) and is_tag(mark) and not self._is_in_channels:
                if len(self._held) == mark.end() and not is_end:
                    self._give_reasoning(mark.start())
                    return False
                if is_in_quotes(self._held, mark, before=self._last):
                    continue
                self._give_reasoning(mark.start())
                self._drop(mark.end() - mark.start())
                self._end_block()
                return True
        self._give_reasoning(len(self._held) if is_end else self._partial_mark())
        return False

    def _unsure(self, is_end: bool) -> bool:
        if self._closes_with:
            at = self._held.find(self._closes_with, max(0, self._scanned - len(self._closes_with)))
            self._scanned = len(self._held)
            if at >= 0:
                self._give_reasoning(at)
                self._drop(len(self._closes_with))
                self._end_block()
            return at >= 0
        for mark in MARK.finditer(self._held, max(0, self._scanned - MAX_MARK)):
            if not mark["tag"] or not is_tag(mark) or is_in_quotes(self._held, mark):
                continue
            if not closes(mark):
                if self._begins_inside and not self._held[: mark.start()].strip():  # it opens a tag this time
                    self._mode, self._begins_inside, self._scanned = _Mode.START, False, 0
                    return True
                continue
            self._waits = len(self._held) < mark.end() + 2 and not is_end
            if self._waits:
                return False
            if self._is_mention(self._held[: mark.start()], self._held[mark.end() : mark.end() + 2]):
                length = len(self._opening) + mark.end()
                self._held = self._opening + self._held
                self._give(length)
                self._mode = _Mode.TEXT
                return True
            if self._begins_inside:
                self.oddities.add(Oddity.UNOPENED_REASONING)
            self._give_reasoning(mark.start())
            self._drop(mark.end() - mark.start())
            self._end_block()
            return True
        self._scanned = len(self._held)
        if not self._is_line_start and len(self._held) > _MAX_HELD_IN_LINE:
            self._release()
            return True
        return False

    def _is_mention(self, inner: str, after: str) -> bool:
        """Return whether a pair of tags belongs to a sentence: it goes on behind the second one."""
        if "\n" in inner or self._begins_inside:
            return False
        goes_on = after[:1] in _PUNCTUATION or (after[:1] == " " and (not self._is_line_start or after[1:2].islower()))
        if self._is_line_start:
            return len(inner) < _MAX_MENTION and goes_on
        before = self._lines.line_with("")[0][-1:]
        return before in (" ", "(") and goes_on

    def _enter_channel(self, mark: re.Match[str] | None) -> bool:
        """Read a channel's mark. Outside of channels only one at the beginning of an answer is one."""
        mark = mark or MARK.match(self._held)
        assert mark is not None
        name = mark[0].strip("<|>").lower()
        if not self._is_in_channels:
            at_start = (
                not self._lines.has_text and not self._texts and self._held[: mark.start()].strip() in ("", "assistant")
            )
            if not at_start or name in ("end", "return", "call", "message"):
                self._give(mark.start())
                self._leave_out_special(mark.end() - mark.start())
                return True
            self._is_in_channels = True
            self.oddities.add(Oddity.CHANNELS)
            self._drop(mark.start())
        else:
            self._give(mark.start()) if self._mode is _Mode.TEXT else None
        if mark[0].lower() == "<channel|>" or name in ("end", "return", "call"):
            self._drop(len(mark[0]))
            self._mode, self._skips_space = _Mode.TEXT, not (self._lines.has_text or self._texts)
            return True
        if name == "message":
            self._drop(len(mark[0]))
            self._mode = _Mode.TEXT
            return True
        self._mode = _Mode.HEADER
        return True

    def _header(self, is_end: bool) -> bool:
        """Read `<|start|>role<|channel|>name<|message|>`, of which each part may be missing."""
        mark = MARK.match(self._held)
        assert mark is not None
        following = MARK.search(self._held, mark.end())
        line = self._held.find("\n", mark.end())
        if following is None and line < 0:
            if len(self._held) > _MAX_HEADER or is_end:
                self._drop(mark.end())
                self._mode = _Mode.REASONING
                return True
            return False
        end = following.start() if following and not 0 <= line < following.start() else line
        words = self._held[mark.end() : end].split()
        if "channel" in mark[0].lower():
            self._channel = words[0].lower() if words else ""
        elif "start" in mark[0].lower():
            self._channel = ""
        if following and end == following.start() and following["channel"] and "message" not in following[0]:
            self._drop(end)
            return True if "end" not in following[0] else self._enter_channel(None)
        self._drop(
            following.end() if following and end == following.start() and following["channel"] else end + (end == line)
        )
        is_answer = self._channel in _ANSWER_CHANNELS
        self._mode = _Mode.TEXT if is_answer else _Mode.REASONING
        self._skips_space = is_answer and not (self._lines.has_text or self._texts)
        self._has_blocks = self._has_blocks or not is_answer
        return True
