import time

import numpy as np

from leaderboard.rating.board_fit import fit_side_counts
from leaderboard.rating.ties.held_out import forecast_facts
from tests.worlds.ratings.ties import rao_kupper_ballots
from tools.bench.ratings.report import Report

MAX_EXCESS_LOSS = 1e-4


def ties(report: Report, seed: int) -> None:
    report.heading("Held-out log-loss per vote, every tenth vote: voters of Rao and Kupper's model, a factor per model")
    for models, votes in ((10, 5_000), (30, 30_000), (300, 1_000_000)):
        _, ballots = rao_kupper_ballots(np.random.default_rng([seed, models]), models, votes)
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
