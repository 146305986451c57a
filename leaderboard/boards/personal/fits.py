"""Own scores beside everyone else's on Overall. Imports scipy: pages import this module late."""

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from leaderboard.boards.personal.records import VotedPair
from leaderboard.counting.tally_copies import read_copied_overall
from leaderboard.counting.vote_arrays import BoardVotes, read_board
from leaderboard.models import OVERALL, AggregationRun
from leaderboard.rating.board_fit import DesignEffects
from leaderboard.rating.bradley_terry import POINTS, Floats
from leaderboard.rating.counts import Counts
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.personal.own_scores import fit_own_scores
from leaderboard.rating.personal.taste_spread import USUAL_SD

logger = logging.getLogger(__name__)


class OwnScore(NamedTuple):
    """Points."""

    others: float
    score: float
    low: float
    high: float
    taste: float
    taste_low: float
    taste_high: float


def fit_own(
    run: AggregationRun,
    pairs: Iterable[VotedPair],
    *,
    counted: Iterable[VotedPair],
    own_design_effects: Mapping[int, float] | None = None,
) -> dict[int, OwnScore]:
    """Return the scores by model. counted: votes among those of the snapshot, which is of the site's Overall."""
    site = _overall(run.public_id, run.last_order)
    index = {model.pk: number for number, model in enumerate(site.models)}
    known = dict(run.standings.values_list("model_id", "design_effect"))
    parameters = run.parameters
    try:
        fitted = fit_own_scores(
            site.counts,
            _counts(pairs, index, site),
            counted=_counts(counted, index, site),
            sd=taste_sd(run) / POINTS,
            design_effects=DesignEffects(
                _of_models(known, site), (run.facts.get("side_bias") or {}).get("design_effect", 1.0)
            ),
            own_design_effects=None if own_design_effects is None else _of_models(own_design_effects, site),
            listed_from=parameters["listed_from_votes"],
            established_from=parameters["established_from_votes"],
            kappa=parameters["virtual_ties"],
            offset=parameters["offset"],
        )
    except ArithmeticError:  # as a board whose fit fails: what others voted does not place the models
        logger.warning("own scores beside snapshot %s cannot be fitted", run.public_id, exc_info=True)
        return {}
    columns = (
        fitted.others, fitted.score, fitted.low, fitted.high, fitted.taste, fitted.taste_low, fitted.taste_high
    )  # fmt: skip
    rows = zip(site.models, *(column.tolist() for column in columns), strict=True)
    return {model.pk: OwnScore(*row) for model, *row in rows if not np.isnan(row[0])}


def taste_sd(run: AggregationRun) -> float:
    """Return the spread of tastes in points, the usual one for snapshots of earlier versions."""
    facts = run.facts.get("taste")
    return float(facts["sd"]) if facts else float(USUAL_SD * POINTS)


# Tallies change with snapshots, and seldom between them: they are read once for each.
@lru_cache(maxsize=1)
def _overall(snapshot: str, last_order: int) -> BoardVotes:
    return read_copied_overall(until=last_order) or read_board(OVERALL)


def _of_models(effects: Mapping[int, float], site: BoardVotes) -> Floats:
    return np.array([effects.get(model.pk, 1.0) for model in site.models])


def _counts(pairs: Iterable[VotedPair], index: Mapping[int, int], site: BoardVotes) -> Counts:
    """Leave out models without a vote on the site's board."""
    size, outcomes = len(site.models), {outcome: number for number, outcome in enumerate(OUTCOMES)}
    rows = [
        ((outcomes[pair.choice] * size + index[pair.left]) * size + index[pair.right], pair.n)
        for pair in pairs
        if pair.left in index and pair.right in index and pair.n
    ]
    cells, n = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return Counts.of_cells(site.counts.names, cells, n)
