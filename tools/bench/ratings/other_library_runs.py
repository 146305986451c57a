"""Timings of the other libraries on the votes of one file; runs in their Python, without the arena.

other_library_runs.py votes.npz: left, right, outcome (0 left, 1 right, 2 tie) and style features. A table is written
beside it. Prints JSON: {library and task: {"cold": seconds, "warm": seconds, "ratings": [points or null] or null}}.
"""

import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np

ROUNDS = 3
WINNERS = np.array(["model_a", "model_b", "tie"])


def timed(task):
    """Return the CPU times of the first run, which includes compilation, and of later ones, and the ratings."""
    runs = []
    for _ in range(1 + ROUNDS):
        begun = time.process_time()
        ratings = task()
        runs.append(time.process_time() - begun)
    return {"cold": runs[0], "warm": median(sorted(runs[1:])[: (ROUNDS + 1) // 2]), "ratings": ratings}


def arena_rank(votes):
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset, PairDataset

    names = [f"f{column}" for column in range(votes["features"].shape[1])]
    frame = pd.DataFrame(
        {"model_a": votes["left"], "model_b": votes["right"], "winner": WINNERS[votes["outcome"]]}
    ).assign(**dict(zip(names, votes["features"].T, strict=True)))

    def plain():
        data = PairDataset.from_pandas(frame)
        return np.asarray(BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data)["ratings"]).tolist()

    def with_style():
        data = ContextualPairDataset.from_pandas(frame, names, reweighted=False)
        model = ContextualBradleyTerry(len(data.competitors), len(names))
        return np.asarray(model.compute_ratings_and_cis(data)["ratings"]).tolist()

    yield "arena-rank", plain
    yield "arena-rank, style", with_style


def evalica(votes):
    import pandas as pd
    from evalica import Winner, bradley_terry

    winners = [(Winner.X, Winner.Y, Winner.Draw)[outcome] for outcome in votes["outcome"]]
    left, right = votes["left"].tolist(), votes["right"].tolist()
    all_models = pd.Index(range(max(left + right) + 1))

    def points(**options):
        scores = bradley_terry(left, right, winners, **options).scores
        theta = np.log(scores.reindex(all_models).to_numpy())
        return (1000 + 400 / np.log(10) * (theta - theta.mean())).tolist()

    names = [f"organization/model-{index}" for index in all_models]
    named = [names[index] for index in left], [names[index] for index in right], winners
    copies = [f"{name} "[:-1] for name in named[0]], [f"{name} "[:-1] for name in named[1]], winners
    words = [WINNERS[outcome] for outcome in votes["outcome"].tolist()]
    table = Path(sys.argv[1]).with_suffix(".csv")
    pd.DataFrame({"model_a": named[0], "model_b": named[1], "winner": words}).to_csv(table, index=False)
    winner_of = {"model_a": Winner.X, "model_b": Winner.Y, "tie": Winner.Draw}

    def from_file():
        frame = pd.read_csv(table)
        bradley_terry(frame["model_a"].tolist(), frame["model_b"].tolist(), frame["winner"].map(winner_of).tolist())

    yield "evalica", points
    yield "evalica, from names, point fit", lambda: bradley_terry(*named) and None
    yield "evalica, from names, an object per vote", lambda: bradley_terry(*copies) and None
    yield "evalica, from a CSV file", from_file
    yield "evalica, tight", lambda: points(tolerance=1e-12, limit=10_000)


def leaderbot(votes):
    from leaderbot.models import BradleyTerry

    def points():
        outcome, left, right = votes["outcome"], votes["left"], votes["right"]
        models = int(max(left.max(), right.max())) + 1
        counts = np.bincount((left * models + right) * 3 + outcome, minlength=3 * models**2).reshape(models, models, 3)
        counts = counts + counts.transpose(1, 0, 2)[:, :, [1, 0, 2]]
        pairs = np.argwhere(np.triu(counts.sum(axis=2), 1))
        model = BradleyTerry({"X": pairs, "Y": counts[tuple(pairs.T)], "models": [f"{i}" for i in range(models)]}, None)
        model.train()

    yield "leaderbot, scores without intervals", points


def main():
    votes = np.load(sys.argv[1])
    libraries = {"arena_rank": arena_rank, "evalica": evalica, "leaderbot": leaderbot}
    installed = {library: runs for library, runs in libraries.items() if find_spec(library)}
    print(json.dumps({name: timed(task) for runs in installed.values() for name, task in runs(votes)}))


if __name__ == "__main__":
    main()
