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
from tests.worlds.routing import KINDS, Design, SyntheticArena, Voters, Voting, confidences
from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

MODELS, VOTES = 100, 100_000
DECISIONS = 500
CALIBRATED_ARENAS = 20
ARENAS_OF_DESIGN = 6
# Arguments of SyntheticArena, votes, and votes of each voter.
DESIGNS: dict[str, tuple[Design, int, Voting]] = {
    "12 models": ({}, 3_000, {}),
    "half the spread": ({"spread": 0.5}, 3_000, {}),
    "twice the spread": ({"spread": 2.0}, 3_000, {}),
    "kinds a third apart": ({"kind_spread": 0.15}, 3_000, {}),
    "5 models": ({"models": 5}, 3_000, {}),
    "30 models": ({"models": 30}, 3_000, {}),
    "800 votes": ({}, 800, {}),
    "20 votes of each": ({}, 3_000, {"of_voter": 20}),
    "unequal voters, taste .35": ({}, 3_000, {"voters": Voters(250, 0.35, 1.0)}),
    "unequal voters, taste .5": ({}, 3_000, {"voters": Voters(250, 0.5, 1.2)}),
    "unequal voters, taste .8": ({}, 3_000, {"voters": Voters(250, 0.8, 1.2)}),
}
# Largest loss of always-best's chance of winning.
MAX_LOSS = 0.005
LOW_DIAL = 0.2


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
    print(f"Auto mode ({METHOD}), {VOTES:,} votes × {MODELS} models")
    print_row("CPU s of reading words", f"{read_s:.1f}")
    print_row("CPU s of training; peak MB", f"{train_s:.1f}; {memory:.0f}", "bar 45; 600")
    for head in trained.heads:
        print_row(f"  head {head['name']}", "on" if head["passed"] else "off")
    began = time.process_time()
    data = fit_router(votes, label_scale=0.4, feature_scale=0.4).to_bytes()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print_row("last fit with all heads on, CPU s; peak MB", f"{time.process_time() - began:.1f}; {memory:.0f}")
    began = time.process_time()
    router = Router.from_bytes(data)
    loading_ms = 1000 * (time.process_time() - began)
    print_row("loading, CPU ms; MB", f"{loading_ms:.1f}; {len(data) / 1e6:.1f}", "bar 50")
    for price in (0.0, 1.0):
        print_row(f"decision at λ = {price:g}, CPU ms", f"{_decision_ms(arena, router, price):.2f}", "bar 1.5")
    _print_calibration()
    _print_gains()
    _print_savings()


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
    calibrated = calibration(confidence, is_right)
    print_row("confidence: Brier; error", f"{calibrated['brier']:.3f}; {calibrated['error']:.3f}")
    for each in calibrated["bins"]:
        print_row(f"  confidence {each['predicted']:.2f}: right, of", f"{each['observed']:.2f}, {each['votes']:,}")
    sure = (confidence >= 0.85) & (confidence < 0.95)
    print_row("  confidence .85 to .95: right, of", f"{is_right[sure].mean():.2f}, {sure.sum():,}", "bar .9")


def _print_gains() -> None:
    """Print what the best dial gains over always-best, in arenas of several designs."""
    everywhere = []
    for name, (design, votes, voting) in DESIGNS.items():
        gains = []
        for seed in range(ARENAS_OF_DESIGN):
            arena = SyntheticArena(seed=seed, **design)
            gains.append(arena.gains(train(arena.votes(votes, **voting)).router))
        everywhere += gains
        _print_gain(name, gains)
    _print_gain("all", everywhere)


def _print_gain(name: str, pairs: Sequence[tuple[float, float]]) -> None:
    gains, possible = np.array(pairs).T
    lost, share = (gains < -MAX_LOSS).mean(), gains.sum() / possible.sum()
    bar = f"bar −{MAX_LOSS}, 0%, 60%" if name in ("12 models", "all") else ""
    value = f"{gains.min():+.4f}, {lost:.0%}, {share:.0%}"
    print_row(f"  dial 1, {name}: worst gain, lose over {MAX_LOSS}, share of the possible", value, bar)


def _print_savings() -> None:
    """Print cost and quality at a low dial as shares of always-best's."""
    shares = []
    for seed in range(ARENAS_OF_DESIGN):
        arena = SyntheticArena(seed=seed)
        router = arena.priced(arena.trained(3_000).router)
        shares.append(arena.shares_of_best(router, dial=LOW_DIAL))
    cost, quality = np.array(shares).T
    value = f"{cost.max():.0%}, {quality.min():.0%}"
    print_row(f"  dial {LOW_DIAL}: highest share of always-best's cost, lowest of its quality", value, "bar 30%, 90%")


if __name__ == "__main__":
    route()
