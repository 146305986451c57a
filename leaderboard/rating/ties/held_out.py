from dataclasses import replace

import numpy as np

from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import Flags, Floats, Tally, fit_strengths, strong_components
from leaderboard.rating.counts import count_votes
from leaderboard.rating.side_bias import estimate_side_bias
from leaderboard.rating.snapshot_facts import ForecastFacts
from leaderboard.rating.ties.tie_factors import Forecast, fit_tie_factors, forecast

# Every tenth vote is held out, in the order of the log.
HELD_OUT_EVERY = 10


def forecast_facts(ballots: Ballots, tally: Tally, board: Board) -> ForecastFacts | None:
    """Return tie factors of all votes, and log-losses of fits of the others on every tenth vote.

    None where the votes do not connect the models. tally: of all votes.
    """
    # Only votes between established models of the main group count; a table of counts has no order.
    members = np.flatnonzero(board.established & (board.group == 0))
    if len(members) < 2 or (ballots.n != 1).any():
        return None
    is_held_out = np.arange(len(ballots.n)) % HELD_OUT_EVERY == HELD_OUT_EVERY - 1
    fitted, held_out = (_tally(ballots, rows).subset(members) for rows in (~is_held_out, is_held_out))
    p = _expected_shares(fitted, with_bias=bool(tally.bias))
    if p is None or not held_out.cells.any():
        return None
    decisive = _expected_shares(replace(fitted, tied=np.zeros_like(p)), with_bias=bool(tally.bias))
    factors, one_factor = (forecast(p, fit_tie_factors(fitted, p, common=common)) for common in (False, True))
    inner = tally.subset(members).as_matrices()
    eta = fit_tie_factors(inner, inner.win_probabilities(fit_strengths(inner)))
    return {
        "held_out": int(held_out.cells.sum()),
        "share_loss": {
            "ties_half": _share_loss(held_out, p),
            "ties_dropped": None if decisive is None else _share_loss(held_out, decisive),
            "tie_factors": _share_loss(held_out, factors.left + factors.tie / 2),
        },
        "outcome_loss": {
            "one_factor": _outcome_loss(held_out, one_factor),
            "tie_factors": _outcome_loss(held_out, factors),
        },
        "tie_factors": {
            ballots.counts.names[model]: factor
            for model, factor in zip(members.tolist(), np.exp(eta).tolist(), strict=True)
        },
    }


def _tally(ballots: Ballots, rows: Flags) -> Tally:
    left, right, outcome, n = (getattr(ballots, name)[rows] for name in ("left", "right", "outcome", "n"))
    counts = count_votes(ballots.counts.names, left, right, outcome, n)
    return Tally.from_side_counts(counts.n, listed=counts.listed).as_matrices()


def _expected_shares(tally: Tally, *, with_bias: bool) -> Floats | None:
    if strong_components(tally.has_won).any():
        return None
    bias = estimate_side_bias(tally) if with_bias else None
    corrected = replace(tally, bias=bias.theta if bias else 0.0)
    return corrected.win_probabilities(fit_strengths(corrected))


def _share_loss(tally: Tally, p: Floats) -> float:
    # Cross-entropy of the left's share, in which a tie is ½.
    losses = tally.won * np.log(p) + tally.lost * np.log1p(-p) + tally.tied * (np.log(p) + np.log1p(-p)) / 2
    return float(-losses.sum() / tally.cells.sum())


def _outcome_loss(tally: Tally, expected: Forecast) -> float:
    outcomes = (tally.won, tally.lost, tally.tied)
    log_likelihood = sum((votes * np.log(p)).sum() for votes, p in zip(outcomes, expected, strict=True))
    return float(-log_likelihood / tally.cells.sum())
