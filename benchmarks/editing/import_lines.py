from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.actions.importing import ImportPreview, ReportLine

LISTED_LINES = 200
ACTIONS = ("refused", "left_out", "changed", "taken")


@dataclass(frozen=True)
class ListedLines:
    """Lines of one action: the number of all, and the first."""

    action: str
    count: int
    lines: Sequence[ReportLine]

    @property
    def unlisted(self) -> int:
        return self.count - len(self.lines)


def parts_of(preview: ImportPreview) -> list[ListedLines]:
    """Return lines by action, the worst first."""
    lines = preview.lines
    parts = []
    for action in ACTIONS:
        listed = [line for line in lines if line["action"] == action]
        count = max(preview.imported.counts.get(action, 0), len(listed))
        if count:
            parts.append(ListedLines(action, count, listed[:LISTED_LINES]))
    return parts
