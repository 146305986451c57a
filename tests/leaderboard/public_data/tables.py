"""Foreign tables of votes for tests; `python -m tests.leaderboard.public_data.tables FOLDER` writes Chatbot Arena's."""

import csv
import importlib.util
import json
import sys
from pathlib import Path

import pytest

SINGLE = ("model_a", "model_b", "winner")
COUNTS = ("model_a", "model_b", "wins_a", "wins_b", "ties", "both_bad")


def table(path: Path, columns: tuple[str, ...], *lines: tuple[object, ...]) -> Path:
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerows([columns, *lines])
    return path


def chatbot_arena(folder: Path) -> Path:
    """The Chatbot Arena table of 2024-08-14, as pair counts, out of the package `leaderbot` (BSD-3)."""
    package = importlib.util.find_spec("leaderbot")
    if package is None or package.origin is None:
        pytest.skip("the package leaderbot is not installed")
    data = json.loads((Path(package.origin).parent / "data" / "chatbotarena_20240814.json").read_text())
    pairs = (
        (data["models"][a], data["models"][b], *counts) for (a, b), counts in zip(data["X"], data["Y"], strict=True)
    )
    return table(folder / "chatbot_arena.csv", COUNTS, *pairs)


if __name__ == "__main__":
    chatbot_arena(Path(sys.argv[1]))
