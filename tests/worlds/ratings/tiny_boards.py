"""Random boards of two to six models and one to five voters, many of them degenerate."""

from collections.abc import Iterator

import numpy as np

from leaderboard.rating.ballots import Ballots, BallotsBuilder
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.snapshot_fit import SnapshotFit, StyleInput, fit_snapshot

PARAMETERS = {"listed_from_votes": 5, "established_from_votes": 30, "virtual_ties": 0.5, "offset": 1500}
# Votes: only ties, only wins of the left, only wins of the better model, or any.
VOTE_KINDS = ("ties", "left", "better", "any")
# Style counts: none, the same on both sides, higher for the winner in every vote, or any.
STYLE_KINDS = ("none", "constant", "separating", "any")


def random_ballots(rng: np.random.Generator) -> Ballots:
    models, voters = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    vote_kind, style_kind, has_fixed_sides = rng.choice(VOTE_KINDS), rng.choice(STYLE_KINDS), rng.random() < 0.25
    builder = BallotsBuilder()
    for _ in range(int(rng.integers(1, 130))):
        left, right = rng.choice(models, 2, replace=False)
        if has_fixed_sides:
            left, right = min(left, right), max(left, right)
        outcome = _outcome(rng, vote_kind, left_is_better=left < right)
        style = _style(rng, style_kind, outcome)
        context = _context(rng, style_kind, outcome)
        builder.add(f"m{left}", f"m{right}", outcome, voter=f"v{rng.integers(voters)}", style=style, context=context)
    return builder.build()


def _outcome(rng: np.random.Generator, kind: str, *, left_is_better: bool) -> str:
    match kind:
        case "ties":
            return str(rng.choice(["tie", "both_bad"]))
        case "left":
            return "left"
        case "better":
            return "left" if left_is_better else "right"
    return str(rng.choice(OUTCOMES))


def _style(rng: np.random.Generator, kind: str, outcome: str) -> tuple[int, ...] | None:
    match kind:
        case "none":
            return None
        case "constant":
            return (5, 1, 1, 1) * 2
        case "separating":
            more, less = (50, 3, 3, 3), (5, 1, 1, 1)
            return {"left": more + less, "right": less + more}.get(outcome, less + less)
    return tuple(int(n) for n in rng.integers(0, 60, 8))


def _context(rng: np.random.Generator, kind: str, outcome: str) -> tuple[int, ...] | None:
    match kind:
        case "none":
            return None
        case "constant":
            return (1, 1, 0, 400, 400)
        case "separating":
            sign = {"left": 1, "right": -1}.get(outcome, 0)
            return (sign + 1, sign, sign, 1000 * (2 + sign), 2000)
    met, reasoning = (int(n) for n in rng.integers(-1, 2, 2))
    return (int(rng.integers(-1, 3)), met, reasoning, *(int(n) for n in rng.integers(-1, 4000, 2)))


def fit_tiny_board(ballots: Ballots) -> SnapshotFit:
    """Fit like an aggregation, but with models established from ten votes."""
    return fit_snapshot(
        ballots.counts,
        PARAMETERS | {"established_from_votes": 10},
        voters=ballots.voter_votes,
        style=StyleInput(ballots, None),
        with_flip=True,
        with_agreement=True,
    )


def finite_intervals(fitted: SnapshotFit) -> Iterator[tuple[float, float]]:
    """Yield the (low, high) of every score, plain and styled, that has both bounds, and of the context's effects."""
    if "context" in fitted.facts:
        for effect in fitted.facts["context"]["coefficients"].values():
            yield effect["low"], effect["high"]
    for line in fitted.lines:
        for score, low, high in (("score", "ci_low", "ci_high"), ("style_score", "style_ci_low", "style_ci_high")):
            if line.get(score) is not None and line[low] is not None and line[high] is not None:
                yield line[low], line[high]
