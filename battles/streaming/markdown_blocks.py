import re
from itertools import pairwise

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class BlockSplitter:
    """Incremental splitter of growing Markdown: a block ends at a blank line outside a fence before an unindented line.

    An indented line may continue a list. Wrong splits show for seconds only: the answer is rendered whole at its end.
    """

    def __init__(self) -> None:
        self.open = ""
        self._line_start = 0  # index in self.open of the first line not scanned
        self._fence = ""
        self._after_blank = False

    def feed(self, text: str) -> list[str]:
        """Return the blocks that this piece completed."""
        self.open += text
        cuts = [0]
        while (end := self.open.find("\n", self._line_start)) >= 0:
            line = self.open[self._line_start : end]
            if self._after_blank and not self._fence and line.strip() and not line[0].isspace():
                cuts.append(self._line_start)
            self._scan(line)
            self._line_start = end + 1
        finished = [self.open[start:end] for start, end in pairwise(cuts)]
        self.open = self.open[cuts[-1] :]
        self._line_start -= cuts[-1]
        return finished

    def _scan(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and line.strip() == fence[1]:
            self._fence = ""
        self._after_blank = not line.strip()
