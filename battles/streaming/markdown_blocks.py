import re
from itertools import pairwise

_FENCE = re.compile(r" {0,8}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r"#{1,6}[ \t]{1,4}(?=\S)")
# Text is required: dashes alone may make a heading of the line above them.
_ITEM = re.compile(r"[ \t]{0,16}(?:[-*+]|\d{1,9}[.)])[ \t]{1,4}(?=\S)")
_MARKER_CHARACTERS = 40
_STRONG = re.compile(r"\*\*[^\s*][^*\n]{0,200}\*\*[\s.,:;!?)]")
_STRONG_CHARACTERS = 250
_FORMULAS = {"$$": "$$", "\\[": "\\]"}


class BlockSplitter:
    """Incremental splitter of growing Markdown; headings and items of lists are blocks.

    Wrong splits show for seconds only: the answer is rendered whole at its end.
    """

    def __init__(self) -> None:
        self.open = ""
        # Index in self.open: up to here, a fence, item, heading, table or bold passage changes how the text is shown.
        self.form_end = 0
        self._before_tip = ""  # a blank line below a table, whose next row is not complete; the indentation of a fence
        self._line_start = 0  # index in self.open of the first line not scanned
        self._closing = ""  # of the open fence or formula
        self._begin_block()

    def _begin_block(self) -> None:
        self._first = self._previous = ""  # lines of the open block; "" also after a blank line
        self._is_table = self._is_complete = False

    @property
    def form(self) -> str:
        return self.open[: self.form_end] + self._before_tip

    def feed(self, text: str) -> list[str]:
        """Return the blocks that this piece completed."""
        length = len(self.open)
        self.open += text
        cuts = [0]
        while (end := self.open.find("\n", self._line_start)) >= 0:
            line = self.open[self._line_start : end]
            if self._interrupts(line):
                self._cut(cuts, self._line_start)
            self._scan(line, end + 1)
            self._line_start = end + 1
        if length - self._line_start < _MARKER_CHARACTERS:
            self._scan_growing_line(cuts)
        self._find_strong()
        finished = [self.open[start:end] for start, end in pairwise(cuts)]
        self.open = self.open[cuts[-1] :]
        self._line_start -= cuts[-1]
        self.form_end = max(0, self.form_end - cuts[-1])
        return finished

    def _scan_growing_line(self, cuts: list[int]) -> None:
        growing = self.open[self._line_start : self._line_start + _MARKER_CHARACTERS]
        is_decided = not self._previous or self._is_complete or _HEADING.match(growing) or _ITEM.match(growing)
        if is_decided and self._interrupts(growing):
            self._cut(cuts, self._line_start)
        self._find_marker(growing)

    def _cut(self, cuts: list[int], at: int) -> None:
        cuts.append(at)
        self._begin_block()

    def _interrupts(self, line: str) -> bool:
        """Return whether a line begins the next block. Blank lines belong to the block before them."""
        if self._closing or not self._first or not line.strip():
            return False
        if self._is_complete or line[0].isspace():  # an indented line may continue a list
            return self._is_complete
        if not self._previous or _HEADING.match(line) or _FENCE.match(line):
            return True
        item = _ITEM.match(line)
        if item is None:
            return False
        # Other numbers may begin a line of a paragraph.
        return not line[0].isdigit() or line.startswith(("1.", "1)")) or _ITEM.match(self._first) is not None

    def _scan(self, line: str, end: int) -> None:
        if self._closing:
            self._scan_enclosed(line, end)
            return
        if not line.strip():
            self._previous = ""
            self._is_complete = bool(self._first) and not self._first[0].isspace() and not _ITEM.match(self._first)
            return
        self._first = self._first or line
        if fence := _FENCE.match(line):
            self._closing, self.form_end, self._before_tip = fence[1], end, line[: fence.start(1)]
        elif formula := _FORMULAS.get(line.strip()[:2]):
            self._closing = formula if formula not in line.strip()[2:] else ""
        elif self._is_table or _is_delimiter_row(line, below=self._previous):
            self._is_table, self.form_end, self._before_tip = True, end, "\n"
        else:
            self._find_marker(line)
        self._previous = line
        self._is_complete = _HEADING.match(line) is not None

    def _scan_enclosed(self, line: str, end: int) -> None:
        if self._closing in _FORMULAS.values():
            if self._closing in line or not line.strip():
                self._closing = ""
            return
        fence = _FENCE.match(line)
        if fence and fence[1].startswith(self._closing) and line.strip() == fence[1]:
            self._closing = ""
            self._is_complete = _FENCE.match(self._first) is not None
            if not self._is_complete:
                self.form_end, self._before_tip = end, ""

    def _find_marker(self, line: str) -> None:
        marker = None if self._closing or self._is_table else _ITEM.match(line) or _HEADING.match(line)
        if marker and self._line_start + marker.end() > self.form_end:
            self.form_end, self._before_tip = self._line_start + marker.end(), ""

    def _find_strong(self) -> None:
        if self._closing or self._is_table or "**" not in self.open[self._line_start :]:
            return
        start = max(self.form_end, self._line_start, len(self.open) - _STRONG_CHARACTERS)
        for strong in _STRONG.finditer(self.open, start):
            self.form_end, self._before_tip = strong.end(), ""


def _is_delimiter_row(line: str, *, below: str) -> bool:
    return "|" in below and "|" in line and "-" in line and not set(line) - set(" \t|:-")
