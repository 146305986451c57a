"""Predictions for prompts of the vote log; rows: places of votes in it."""

from collections.abc import Sequence

import numpy as np

from routing.deciding.candidates import CandidateTable
from routing.learning.fitting import Sides
from routing.learning.grounded import Floats, Indices, log_losses
from routing.learning.router import Router, Scores
from routing.training.vote_log import VoteLog


def predict_scores(router: Router, log: VoteLog, rows: Indices, models: Sequence[int]) -> Scores:
    """Return the models' scores for each vote's prompt, shape (rows, models)."""
    scores = [router.scores(models, log.labels[row], log.prompts[row]) for row in rows.tolist()]
    return Scores(np.array([each.theta for each in scores]), np.array([each.sd for each in scores]))


def predict_sides(router: Router, log: VoteLog, rows: Indices) -> Sides:
    votes, number = log.votes, np.arange(len(rows))
    theta = predict_scores(router, log, rows, votes.models).theta
    return Sides(theta[number, votes.left[rows]], theta[number, votes.right[rows]])


def predict_losses(router: Router, log: VoteLog, rows: Indices) -> Floats:
    left, right = predict_sides(router, log, rows)
    return log_losses(left, right, log.votes.outcome[rows], router.tie_factor)


def expected_costs(table: CandidateTable, log: VoteLog, rows: Indices) -> Floats:
    """Return US dollars of an answer, shape (rows, models of the table)."""
    return np.array(
        [table.expected_costs(sum(map(len, log.prompts[row])), log.labels[row][0]) for row in rows.tolist()]
    )
