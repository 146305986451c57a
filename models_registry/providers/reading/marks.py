"""Marks of reasoning, channels and special tokens in content, and whether one is in code or quotes."""

import re

_WORD = r"(?:thinking|think|thoughts?|reasoning|reason)"
_TAG = (
    r"[<\[◁]\|?(?P<close>/|end_(?:of_)?)?(?:(?:begin|start)_(?:of_)?)?(?:[a-z][\w.]{0,19}[:_-])?"
    rf"{_WORD}(?P<end>_end)?(?:_start|_begin)?\|?[>\]▷]"
)
_CHANNEL = r"<\|(?:channel|start|message|end|return|call|constrain)\|>|<\|channel>|<channel\|>"
_SPECIAL = r"<\|[\w▁-]{1,30}\|>|<｜[\w▁ -]{1,40}｜>|</s>|<eos>|<end_of_turn>|<end_of_utterance>"
MARK = re.compile(rf"(?P<tag>{_TAG})|(?P<channel>{_CHANNEL})|(?P<special>{_SPECIAL})", re.IGNORECASE)
PARTIAL = re.compile(r"<[|｜/]{0,2}[\w:.▁-]{0,44}[|｜]?|◁/?\w{0,20}|\[/?(?:T(?:H(?:I(?:NK?)?)?)?)?")
MAX_MARK = 48
OPENERS = ("<", "◁", "[")
QUOTES = frozenset("`'\"“”«»‘’")


def closes(mark: re.Match[str]) -> bool:
    return bool(mark["close"] or mark["end"])


def is_tag(mark: re.Match[str]) -> bool:
    """Return False for Markdown's `[thinking]`: in brackets there are capitals only."""
    return mark[0][0] != "[" or mark[0].isupper()


def is_in_quotes(text: str, mark: re.Match[str], *, before: str = "") -> bool:
    last = (before + text[: mark.start()])[-1:] if mark.start() == 0 else text[mark.start() - 1]
    return last in QUOTES and text[mark.end() : mark.end() + 1] in QUOTES


class AnswerLines:
    """The answer's last line and whether it is in code; read only where a mark is found."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._line = ""
        self._is_fenced = False
        self._has_text = False

    @property
    def has_text(self) -> bool:
        return self._has_text or any(piece.strip() for piece in self.pieces)

    def line_with(self, more: str) -> tuple[str, bool]:
        """Return the last line, and whether a mark behind `more` is in code."""
        self._fold()
        is_fenced, line = self._is_fenced, self._line + more
        *lines, line = line.split("\n")
        for whole in lines:
            is_fenced ^= _is_fence(whole)
        return line, is_fenced or _is_fence(line) or line.count("`") % 2 == 1

    def _fold(self) -> None:
        joined = "".join(self.pieces)
        self.pieces = []
        self._has_text = self._has_text or bool(joined.strip())
        *lines, line = (self._line + joined).split("\n")
        for whole in lines:
            self._is_fenced ^= _is_fence(whole)
        self._line = line[-2_000:]


def _is_fence(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))
