import csv
from pathlib import Path

SINGLE = ("model_a", "model_b", "winner")
COUNTS = ("model_a", "model_b", "wins_a", "wins_b", "ties", "both_bad")


def table(path: Path, columns: tuple[str, ...], *lines: tuple[object, ...]) -> Path:
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerows([columns, *lines])
    return path
