"""Fit of a foreign table as other libraries define it."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from leaderboard.export_rows import STYLE_COUNTS
from leaderboard.imports.columns import NeedsRows, TableColumns
from leaderboard.imports.tables import BadLine, TableVote, read_table, refusing_without_fit
from leaderboard.rating.ballots import Ballots, BallotsBuilder, ballots_of
from leaderboard.rating.bradley_terry import Floats
from leaderboard.rating.elo import START, after_vote
from leaderboard.rating.intervals import Z
from leaderboard.rating.reference import ARENA_RANK_RIDGE, fit_reference
from leaderboard.rating.style_control import FEATURES, fit_style, scaling_of

OFFSET = 1000.0


def fit_table(path: Path) -> dict[str, Any]:
    """Return scores of plain maximum likelihood, mean 1000, with plain sandwich errors, in the order of `models`.

    None: `ours` and `style` when some model has no finite score; `style` also without style counts or with a separating
    feature; `elo_k32_1500`, in the order of lines, when a row stands for several votes.
    Raises the first BadLine as ValueError, NotATable and OSError.
    """
    try:
        ballots, has_style = _read_columns(path)
    except NeedsRows:
        ballots, has_style = _read_rows(path)
    wins, ties = ballots.counts.wins, ballots.counts.ties + ballots.counts.both_bad
    weak, strong = (
        int(connected_components(wins + ties / 2 > 0, directed=True, connection=kind)[0]) for kind in ("weak", "strong")
    )
    with refusing_without_fit(path):
        return {
            "dataset": path.stem,
            "models": ballots.counts.names,
            "votes": ballots.counts.total,
            "weak_components": weak,
            "strong_components": strong,
            "separable": strong > 1,
            "ours": _fit_plain(wins, ties) if strong == 1 else None,
            "elo_k32_1500": _replay_elo(ballots) if (ballots.n == 1).all() else None,
            "style": _fit_style(ballots) if has_style and strong == 1 else None,
        }


def _read_columns(path: Path) -> tuple[Ballots, bool]:
    """Return the votes, and whether any has a style. Raises NeedsRows, NotATable and OSError."""
    table = TableColumns(path)
    batches = list(table.batches())
    left, right, outcome, n, style = (
        np.concatenate([getattr(votes, column) for votes in batches])
        for column in ("left", "right", "outcome", "n", "style")
    )
    no_voter = np.full(len(n), -1)
    ballots = ballots_of(table.names.words, left, right, outcome, n=n, voter=no_voter, styles=style)
    return ballots, any(votes.has_style.any() for votes in batches)


def _read_rows(path: Path) -> tuple[Ballots, bool]:
    builder, has_style = BallotsBuilder(), False
    for line in read_table(path):
        if isinstance(line, BadLine):
            raise ValueError(f"{path.name}:{line.line}: {line.sentence}")
        for vote in line:
            has_style = has_style or vote.style is not None
            builder.add(vote.left, vote.right, vote.outcome, n=vote.n, style=_style_counts(vote))
    return builder.build(), has_style


def _style_counts(vote: TableVote) -> list[int] | None:
    if vote.style is None:
        return None
    return [vote.style[side][count] for side in ("left", "right") for count in STYLE_COUNTS]


def _fit_plain(wins: Floats, ties: Floats) -> dict[str, list[float]]:
    score, error = fit_reference(wins, ties, offset=OFFSET)
    _, ridged = fit_reference(wins, ties, offset=OFFSET, ridge_per_vote=ARENA_RANK_RIDGE)
    return {
        "ratings": score.tolist(),
        "lower": (score - Z * error).tolist(),
        "upper": (score + Z * error).tolist(),
        "se": error.tolist(),
        "se_arena_compat": ridged.tolist(),
    }


def _replay_elo(ballots: Ballots) -> list[float]:
    ratings = [START] * len(ballots.counts.names)
    rows = zip(ballots.left.tolist(), ballots.right.tolist(), ballots.share.tolist(), strict=True)
    for left, right, share in rows:
        ratings[left], ratings[right] = after_vote(ratings[left], ratings[right], left_share=share)
    return ratings


def _fit_style(ballots: Ballots) -> dict[str, Any] | None:
    fit = fit_style(
        ballots.left, ballots.right, ballots.share, ballots.features,
        established=np.ones(len(ballots.counts.names), dtype=bool),
        scaling=scaling_of(ballots.features, mirrored=False), leverages=False, offset=OFFSET,
    )  # fmt: skip
    if fit.separating.any():  # other libraries keep separating features and have no finite scores then
        return None
    return {
        "features": list(FEATURES),
        "ratings": fit.score.tolist(),
        "coeffs": fit.coefficients.tolist(),
        "se": ((fit.high - fit.low) / 2 / Z).tolist(),
        "coef_se": fit.errors.tolist(),
    }
