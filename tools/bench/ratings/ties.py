import time

import numpy as np
from scipy.special import expit

from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import fit_side_counts
from leaderboard.rating.counts import count_votes
from leaderboard.rating.ties.held_out import forecast_facts
from tools.bench.ratings.report import Report

MAX_EXCESS_LOSS = 1e-4


def ties(report: Report, seed: int) -> None:
    report.heading("Held-out log-loss per vote, every tenth vote: voters of Rao and Kupper's model, a factor per model")
    for models, votes in ((10, 5_000), (30, 30_000), (300, 1_000_000)):
        ballots = _ballots(np.random.default_rng([seed, models]), models, votes)
        fitted = fit_side_counts(ballots.counts.n.astype(np.float64))
        begun = time.process_time()
        facts = forecast_facts(ballots, fitted.tally, fitted.board)
        took = time.process_time() - begun
        if facts is None:
            report.row(f"{models} models, {votes:,} votes", "not connected", held=False)
            continue
        share, outcome = facts["share_loss"], facts["outcome_loss"]
        excess = share["tie_factors"] - share["ties_half"]
        report.row(f"{models} models, {votes:,} votes: the share, ties as halves", f"{share['ties_half']:.4f}")
        dropped = share["ties_dropped"]
        report.row("… ties dropped", "–" if dropped is None else f"{dropped:.4f}")
        report.row("… tie factors, more than halves by", f"{excess:.1e}", "bar 1e-4", held=excess <= MAX_EXCESS_LOSS)
        report.row("… the outcome, one tie factor", f"{outcome['one_factor']:.4f}")
        report.row("… the outcome, a factor per model", f"{outcome['tie_factors']:.4f}")
        report.row("… CPU time of all fits", f"{took * 1000:.0f} ms")


def _ballots(rng: np.random.Generator, models: int, votes: int) -> Ballots:
    theta, eta = rng.normal(0, 0.7, models), np.exp(rng.normal(np.log(0.25), 0.5, models))
    left = rng.integers(models, size=votes)
    right = (left + rng.integers(1, models, size=votes)) % models
    gap, tie = theta[left] - theta[right], eta[left] + eta[right]
    won, lost, chance = expit(gap - tie), expit(-gap - tie), rng.random(votes)
    outcome = np.where(chance < won, 0, np.where(chance < won + lost, 1, 2))
    each = np.ones(votes, dtype=np.int64)
    counts = count_votes([f"m{number:03d}" for number in range(models)], left, right, outcome, each)
    return Ballots(counts, left, right, outcome, each, np.arange(votes), np.zeros((votes, 4)))
