"""Public vote tables from tests/data, with results of public implementations."""

import atexit
import csv
import json
import lzma
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.rating.bradley_terry import Floats

FOLDER = Path(__file__).parents[2] / "data"
CHATBOT_ARENA = FOLDER / "votes" / "arena_20240814_paircounts.csv"
Vote = tuple[int, int, str]


def reference(name: str) -> dict[str, Any]:
    """Return the results on one table; `ours` is None where no finite maximum exists."""
    results: dict[str, Any] = json.loads((FOLDER / "reference" / f"{name}.json").read_text())
    results["ours"] = results.get("ours") or results.get("exact_mle")
    return results


@cache
def table_path(name: str) -> Path:
    """Return the path of a table as plain CSV; a compressed one is unpacked once per process."""
    plain = FOLDER / "votes" / f"{name}.csv"
    if plain.exists():
        return plain
    unpacked = Path(tempfile.mkdtemp(prefix="arena-votes-"))
    atexit.register(shutil.rmtree, unpacked)
    path = unpacked / plain.name
    path.write_bytes(lzma.decompress(plain.with_suffix(".csv.xz").read_bytes()))
    return path


def votes(name: str) -> Iterator[Vote]:
    """Yield (a, b, winner) in file order; models are indices into the reference's `models`."""
    place = {model: index for index, model in enumerate(reference(name)["models"])}
    with table_path(name).open() as lines:
        for line in csv.DictReader(lines):
            yield place[line["model_a"]], place[line["model_b"]], line["winner"]


def counts(name: str) -> tuple[Floats, Floats]:
    """Return (wins, ties), shape (models, models) each."""
    models = reference(name)["models"]
    wins, ties = np.zeros((2, len(models), len(models)))
    if name.startswith("ref_"):
        _, size, number = name.split("_")
        by_outcome = np.load(FOLDER / "votes" / f"counts_{size}_{number}.npz")["C"].astype(float)
        wins += by_outcome[0] + by_outcome[1].T
        ties += by_outcome[2] + by_outcome[3]
    elif name.endswith("paircounts"):
        place = {model: index for index, model in enumerate(models)}
        with table_path(name).open() as lines:
            for line in csv.DictReader(lines):
                a, b = place[line["model_a"]], place[line["model_b"]]
                wins[a, b] += int(line["wins_a"])
                wins[b, a] += int(line["wins_b"])
                ties[a, b] += int(line["ties"]) + int(line["both_bad"])
    else:
        for a, b, winner in votes(name):
            match winner:
                case "model_a":
                    wins[a, b] += 1
                case "model_b":
                    wins[b, a] += 1
                case _:
                    ties[a, b] += 1
    return wins, ties + ties.T
