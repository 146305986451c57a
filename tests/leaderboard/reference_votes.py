"""Public vote sets with the results of public implementations, where they are at hand."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings

from leaderboard.rating.bradley_terry import Floats

FOLDER = Path(os.environ.get("ARENA_REFERENCE_DATA", settings.BASE_DIR / ".." / "shared" / "data"))
Vote = tuple[int, int, str]


def reference(name: str) -> dict[str, Any]:
    """The results on one set; skips the test where the folder is absent."""
    path = FOLDER / "reference" / f"{name}.json"
    if not path.exists():
        pytest.skip(f"no reference votes: set ARENA_REFERENCE_DATA to a folder that has reference/{name}.json")
    results: dict[str, Any] = json.loads(path.read_text())
    results["ours"] = results.get("ours") or results.get("exact_mle")
    return results


def votes(name: str) -> Iterator[Vote]:
    """(a, b, winner) in file order, with the models' places in the reference."""
    place = {model: index for index, model in enumerate(reference(name)["models"])}
    with (FOLDER / "votes" / f"{name}.csv").open() as lines:
        for line in csv.DictReader(lines):
            yield place[line["model_a"]], place[line["model_b"]], line["winner"]


def counts(name: str) -> tuple[Floats, Floats]:
    """(wins, ties), shape (models, models) each."""
    models = reference(name)["models"]
    wins, ties = np.zeros((2, len(models), len(models)))
    if name.startswith("ref_"):
        _, size, number = name.split("_")
        by_outcome = np.load(FOLDER / "votes" / f"counts_{size}_{number}.npz")["C"].astype(float)
        wins += by_outcome[0] + by_outcome[1].T
        ties += by_outcome[2] + by_outcome[3]
    elif name.endswith("paircounts"):
        place = {model: index for index, model in enumerate(models)}
        with (FOLDER / "votes" / f"{name}.csv").open() as lines:
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
