"""Learning and decisions of auto mode; alone: `python -m tools.bench.route`."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import time
from collections.abc import Sequence

import numpy as np

from routing.learning.choosing import Option, choose
from routing.learning.evaluation import calibration
from routing.learning.heads import METHOD, fit_router, train
from routing.learning.router import Router
from tests.routing.synthetic import KINDS, SyntheticArena
from tools.bench.arena import Bench

MODELS, VOTES = 100, 100_000
DECISIONS = 500
CALIBRATED_ARENAS = 20


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


def _decision_ms(arena: SyntheticArena, router: Router, price: float) -> float:
    options = [Option(model, 1.0, float(arena.prices[model])) for model in router.models]
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
    confidence, is_right = [], []
    for seed in range(CALIBRATED_ARENAS):
        arena = SyntheticArena(seed=1_000 + seed)
        router = arena.trained(1_500).router
        kinds, choices = arena.choices(router, dial=1, prompts=100, best=None)
        for kind, choice in zip(kinds, choices, strict=True):
            confidence.append(choice.confidence)
            is_right.append(arena.strengths[choice.model, kind] > arena.strengths[choice.runner_up, kind])
    found = calibration(np.array(confidence), np.array(is_right, dtype=float))
    print(f"confidence: Brier {found['brier']:.3f}, error {found['error']:.3f}")
    _print_rows([(each["votes"], each["predicted"], each["observed"]) for each in found["bins"]])


def _print_rows(rows: Sequence[tuple[int, float, float]]) -> None:
    for decisions, predicted, observed in rows:
        print(f"  confidence {predicted:.2f}: right {observed:.2f} of {decisions:,}")


if __name__ == "__main__":
    route()
