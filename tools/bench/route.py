"""Learning and decisions of auto mode; alone: `python -m tools.bench.route`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import time
from collections.abc import Sequence

import numpy as np

from routing.learning.choosing import choose
from routing.learning.evaluation import calibration
from routing.learning.heads import METHOD, fit_router, train
from routing.learning.router import Router
from tests.routing.synthetic import KINDS, Design, SyntheticArena, confidences
from tools.bench.arena import Bench

MODELS, VOTES = 100, 100_000
DECISIONS = 500
CALIBRATED_ARENAS = 20
ARENAS_OF_DESIGN = 6
# Arguments of SyntheticArena, votes, and votes of each voter.
DESIGNS: dict[str, tuple[Design, int, int]] = {
    "12 models": ({}, 3_000, 1),
    "half the spread": ({"spread": 0.5}, 3_000, 1),
    "twice the spread": ({"spread": 2.0}, 3_000, 1),
    "kinds a third apart": ({"kind_spread": 0.15}, 3_000, 1),
    "5 models": ({"models": 5}, 3_000, 1),
    "30 models": ({"models": 30}, 3_000, 1),
    "800 votes": ({}, 800, 1),
    "20 votes of each": ({}, 3_000, 20),
}
# Of always-best's chance of winning.
MAX_LOSS = 0.005


def route(_bench: Bench | None = None) -> None:
    """Report training, loading and decisions at 100 models, and the calibration of confidence."""
    arena = SyntheticArena(models=MODELS, seed=1)
    began = time.process_time()
    votes = arena.votes(VOTES, words=30)
    read_s = time.process_time() - began
    began = time.process_time()
    trained = train(votes)
    train_s = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{METHOD}: {VOTES:,} votes × {MODELS} models")
    print(f"features {read_s:.1f} s, training {train_s:.1f} s CPU, peak {memory:.0f} MB")
    print(*trained.heads, sep="\n")
    began = time.process_time()
    data = fit_router(votes, label_scale=0.4, feature_scale=0.4).to_bytes()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"last fit with all heads on: {time.process_time() - began:.1f} s CPU, peak {memory:.0f} MB")
    began = time.process_time()
    router = Router.from_bytes(data)
    print(f"loading {1000 * (time.process_time() - began):.1f} ms, {len(data) / 1e6:.1f} MB")
    for price in (0.0, 1.0):
        print(f"decision at λ = {price:g}: {_decision_ms(arena, router, price):.2f} ms CPU, all heads on")
    _print_calibration()
    _print_gains()


def _decision_ms(arena: SyntheticArena, router: Router, price: float) -> float:
    options = arena.options(router)
    texts = [arena.text(number % len(KINDS)) * 8 for number in range(DECISIONS)]
    began = time.process_time()
    for number, text in enumerate(texts):
        choose(
            options,
            router.scores(router.models, [KINDS[number % len(KINDS)]], [text]),
            price=price,
            best=0,
            random=arena.random,
            tie_factor=router.tie_factor,
        )
    return 1000 * (time.process_time() - began) / DECISIONS


def _print_calibration() -> None:
    confidence, is_right = confidences(range(1_000, 1_000 + CALIBRATED_ARENAS), prompts=100)
    found = calibration(confidence, is_right)
    print(f"confidence: Brier {found['brier']:.3f}, error {found['error']:.3f}")
    for each in found["bins"]:
        print(f"  confidence {each['predicted']:.2f}: right {each['observed']:.2f} of {each['votes']:,}")


def _print_gains() -> None:
    """Print what the best dial gains over always-best, in arenas of several designs."""
    everywhere = []
    for name, (design, votes, of_voter) in DESIGNS.items():
        found = []
        for seed in range(ARENAS_OF_DESIGN):
            arena = SyntheticArena(seed=seed, **design)
            found.append(arena.gains(train(arena.votes(votes, of_voter=of_voter)).router))
        everywhere += found
        _print_gain(name, found)
    _print_gain("all", everywhere)


def _print_gain(name: str, found: Sequence[tuple[float, float]]) -> None:
    gains, possible = np.array(found).T
    lost, share = (gains < -MAX_LOSS).mean(), gains.sum() / possible.sum()
    print(f"  {name}: worst {gains.min():+.4f}, {lost:.0%} lose over {MAX_LOSS}, {share:.0%} of the possible gain")


if __name__ == "__main__":
    route()
