"""Cuts growing Markdown into blocks: what is complete can be rendered while the rest still grows."""

import re
from itertools import pairwise

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class GrowingMarkdown:
    """Feed it pieces; take the blocks that can no longer change.

    A block ends at a blank line outside a fence, once the next line has begun at the margin (an indented one
    may belong to a list item above). The whole answer is rendered again at its end: a cut in the wrong place
    shows for seconds only.
    """

    def __init__(self) -> None:
        self.open = ""
        self._line_start = 0  # in self.open: where the first line not yet looked at begins
        self._fence = ""
        self._after_blank = False

    def feed(self, text: str) -> list[str]:
        """The blocks that this piece completed, in order."""
        self.open += text
        cuts = [0]
        while (end := self.open.find("\n", self._line_start)) >= 0:
            line = self.open[self._line_start : end]
            if self._after_blank and not self._fence and line.strip() and not line[0].isspace():
                cuts.append(self._line_start)
            self._look_at(line)
            self._line_start = end + 1
        finished = [self.open[start:end] for start, end in pairwise(cuts)]
        self.open = self.open[cuts[-1] :]
        self._line_start -= cuts[-1]
        return finished

    def _look_at(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and line.strip() == fence[1]:
            self._fence = ""
        self._after_blank = not line.strip()
