from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.actions.importing import Look, ReportLine

LISTED_LINES = 200
ACTIONS = ("refused", "left_out", "changed", "taken")


@dataclass(frozen=True)
class ReportPart:
    """Lines of one action: the number of all, and the first."""

    action: str
    count: int
    lines: Sequence[ReportLine]

    @property
    def unlisted(self) -> int:
        return self.count - len(self.lines)


def parts_of(look: Look) -> list[ReportPart]:
    """Return lines by action, the worst first."""
    lines = look.lines
    parts = []
    for action in ACTIONS:
        found = [line for line in lines if line["action"] == action]
        count = max(look.imported.counts.get(action, 0), len(found))
        if count:
            parts.append(ReportPart(action, count, found[:LISTED_LINES]))
    return parts
