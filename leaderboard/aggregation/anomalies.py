from collections.abc import Iterator

import numpy as np
from django.db import connection

from common.payload_types import JsonObject
from leaderboard.counting import method, reviews
from leaderboard.counting.vote_arrays import BoardVotes, OrderedVotes, read_board, read_ordered_votes
from leaderboard.models import OVERALL, AnomalyReview
from leaderboard.rating.anomalies.eprocess import KINDS, Anomaly, VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import LEFT, RIGHT, TIE, held_out_probabilities
from leaderboard.rating.bradley_terry import POINTS, Flags, Floats
from leaderboard.rating.counts import OUTCOMES, Counts, count_votes
from leaderboard.rating.snapshot_fit import fit_snapshot

MAX_MODELS_IN_EFFECT = 10


def find_anomalies() -> int:
    """Test each voter of Overall against the others, update open reviews, and return the number of new ones.

    Votes of dismissed reviews are not tested again. The computation does not hold the lock of the tallies.
    """
    board = read_board(OVERALL)
    if not board.models:
        return 0
    _update_open_reviews(board)
    return sum(map(reviews.open_review, list(_suspects(board))))


def _suspects(board: BoardVotes) -> Iterator[reviews.Suspect]:
    votes = read_ordered_votes(board)
    log = VoterLog(votes.voter, votes.left, votes.right, np.minimum(votes.outcome, TIE), _probabilities(board, votes))
    fresh = _not_dismissed(votes)
    log, orders, outcome = log.subset(fresh), votes.order[fresh], votes.outcome[fresh]
    voters, voter = np.unique(log.voter, return_inverse=True)
    verdicts = judge(VoterLog(voter, log.left, log.right, log.outcome, log.probabilities), models=len(board.models))
    for index in np.flatnonzero(verdicts.crossed):
        own = log.voter == voters[index]
        kind, model = KINDS[verdicts.kind[index]], int(verdicts.model[index])
        name = board.counts.names[model] if model >= 0 else None
        ones = np.ones(own.sum(), dtype=int)
        counts = count_votes(board.counts.names, log.left[own], log.right[own], outcome[own], ones)
        yield reviews.Suspect(
            last_order=int(orders[own].max()),
            log_e=float(verdicts.log_e[index]),
            crossed=int(verdicts.crossed[index]),
            evidence={
                "kind": kind,
                "model": name,
                "tilt": float(verdicts.tilt[index]),
                **_observed_and_expected(log.subset(own), kind, model),
            },
            effect=_effect(board.counts, board.counts.minus(counts)),
        )


def _probabilities(board: BoardVotes, votes: OrderedVotes) -> Floats:
    fit = fit_snapshot(board.counts, method.parameters()).board
    return held_out_probabilities(
        votes.voter,
        votes.left,
        votes.right,
        np.minimum(votes.outcome, TIE),
        theta=np.nan_to_num((fit.score - method.OFFSET) / POINTS),
        placed=fit.established & (fit.group == 0),
        kappa=method.VIRTUAL_TIES,
    )


def _not_dismissed(votes: OrderedVotes) -> Flags:
    """Return which votes are later than those of their voter's dismissed reviews."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT hashtextextended(voter, 0), max(last_order) FROM leaderboard_anomalyreview "
            "WHERE state = 'dismissed' GROUP BY 1 ORDER BY 1"
        )
        dismissed = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 2)
    index = np.searchsorted(dismissed[:, 0], votes.key)
    padded = np.vstack([dismissed, [[0, 0]]])[np.minimum(index, len(dismissed))]
    fresh: Flags = (padded[:, 0] != votes.key) | (votes.order > padded[:, 1])
    return fresh


def _observed_and_expected(log: VoterLog, kind: Anomaly, model: int) -> dict[str, float]:
    """Return {"votes", "observed", "expected"}: counts of the outcome that the bet was on."""
    log = log.subset(~np.isnan(log.probabilities[:, 0]))
    likelier_left = log.probabilities[:, LEFT] >= log.probabilities[:, RIGHT]
    match kind:
        case Anomaly.MODEL:
            log = log.subset((log.left == model) | (log.right == model))
            is_left = log.left == model
        case Anomaly.FAVOURITE:
            is_left = likelier_left
        case _:
            return {
                "votes": len(log.outcome),
                "observed": int((log.outcome == TIE).sum()),
                "expected": float(log.probabilities[:, TIE].sum()),
            }
    won = np.where(is_left, log.outcome == LEFT, log.outcome == RIGHT) + (log.outcome == TIE) / 2
    left, right, tie = log.probabilities[:, [LEFT, RIGHT, TIE]].T
    expected = np.where(is_left, left, right) + tie / 2
    return {"votes": len(won), "observed": float(won.sum()), "expected": float(expected.sum())}


def _update_open_reviews(board: BoardVotes) -> None:
    index_by_name = {name: index for index, name in enumerate(board.counts.names)}
    for review in AnomalyReview.objects.filter(state=AnomalyReview.State.OPEN):
        votes = review.votes.filter(model_left__slug__in=index_by_name, model_right__slug__in=index_by_name)
        rows = votes.values_list("model_left__slug", "model_right__slug", "choice")
        indices = [(index_by_name[left], index_by_name[right], OUTCOMES.index(choice)) for left, right, choice in rows]
        table = np.array(indices, dtype=np.int64).reshape(-1, 3)
        left, right, outcome = table.T
        own = count_votes(board.counts.names, left, right, outcome, np.ones(len(table), dtype=np.int64))
        review.effect = _effect(board.counts.plus(own), board.counts)
        review.save(update_fields=["effect"])


def _effect(with_votes: Counts, without_votes: Counts) -> list[JsonObject]:
    """Return the models whose scores change most: [{"model", "score": [with, without], "rank": [with, without]}]."""
    lines = [fit_snapshot(counts, method.parameters()).lines for counts in (with_votes, without_votes)]
    moved = [
        {"model": name, **{figure: [one[figure], other[figure]] for figure in ("score", "rank")}}
        for name, one, other in zip(with_votes.names, *lines, strict=True)
        if one["score"] != other["score"]
    ]
    moved.sort(key=lambda line: -abs((line["score"][0] or np.inf) - (line["score"][1] or 0)))
    return moved[:MAX_MODELS_IN_EFFECT]
