"""Check of template lines for 120 characters: djade does not break lines."""

import sys
from pathlib import Path

MAX_COLUMNS = 120


def long_lines(root: Path) -> list[str]:
    """Return "path:line: n characters" for each too long line."""
    return [
        f"{path.relative_to(root)}:{number}: {len(line)} characters"
        for path in sorted(root.glob("templates/**/*.html")) + sorted(root.glob("*/templates/**/*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > MAX_COLUMNS
    ]


if __name__ == "__main__":
    sys.exit("\n".join(long_lines(Path(__file__).parent.parent)) or 0)
