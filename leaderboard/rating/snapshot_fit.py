"""Fit of a snapshot from its votes and the method's parameters alone."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from common.allocator import keep_freed_arrays, release_freed_arrays
from common.payload_types import JsonObject
from leaderboard.rating.ballots import Ballots
from leaderboard.rating.board_fit import Board, DesignEffects, SideBiasFit, fit_side_counts
from leaderboard.rating.bradley_terry import Flags, NotConnected, Tally
from leaderboard.rating.clustering import VoterVotes, both_bad_design_effects, effective_voters
from leaderboard.rating.context.fit import fit_style_and_context
from leaderboard.rating.counts import Counts
from leaderboard.rating.diagnostics import misfit, votes_to_flip_first
from leaderboard.rating.first_place.dropped_votes import OUTCOMES, votes_to_drop_first
from leaderboard.rating.intervals import Z
from leaderboard.rating.personal.taste_spread import taste_facts
from leaderboard.rating.ranks import rank_board, rank_established
from leaderboard.rating.sensitivity.discrimination import agreement_facts
from leaderboard.rating.snapshot_facts import (
    ContextFacts,
    DropFacts,
    FitFacts,
    FitLine,
    FlipFacts,
    Interval,
    SideBiasFacts,
    StyleFacts,
)
from leaderboard.rating.style_control import FEATURES, Scaling, StyleFit, scaling_of
from leaderboard.rating.ties.held_out import forecast_facts


class StyleInput(NamedTuple):
    """Votes with styles, and the board's frozen scaling; None computes it from the votes.

    context: covariates to be in the fit; None selects the significant ones.
    """

    votes: Ballots
    scaling: Scaling | None
    context: list[str] | None = None


@dataclass(frozen=True)
class SnapshotFit:
    """Fit of a snapshot: a line for each of counts.names, and facts of the board, in points unless noted.

    phi: dispersion of each group. side_bias: None where it has no estimate. largest_design_effect: of the established
    models. effective_voters: only with `voters`. flips_first, drops_first: only `with_flip`. forecast: only with
    `ballots`. style: coefficients in logit per standard deviation, side in points, scaling in the order of FEATURES;
    missing without `style` or established models.
    """

    lines: list[FitLine]
    facts: FitFacts
    board: Board

    @property
    def corrects_side_bias(self) -> bool:
        bias = self.facts["side_bias"]
        return bias is not None and bias["applied"]


def fit_snapshot(
    counts: Counts,
    parameters: JsonObject,
    *,
    voters: VoterVotes | None = None,
    design_effects: DesignEffects | None = None,
    style: StyleInput | None = None,
    ballots: Ballots | None = None,
    with_flip: bool = False,
    with_agreement: bool = False,
    with_taste: bool = False,
) -> SnapshotFit:
    """Fit the standings of one snapshot.

    parameters: of the method, see leaderboard.counting.method.
    voters: give the design effects; without them `design_effects` are used. ballots: single votes, for the forecast.
    """
    keep_freed_arrays()
    offset: float = parameters["offset"]
    fitted = fit_side_counts(
        counts.n,
        listed=counts.listed,
        voters=voters,
        design_effects=design_effects,
        listed_from=parameters["listed_from_votes"],
        established_from=parameters["established_from_votes"],
        kappa=parameters["virtual_ties"],
        offset=offset,
    )
    board, tally = fitted.board, fitted.tally
    fit = misfit(tally, board)
    facts: FitFacts = {
        "phi": board.phi.tolist(),
        "misfit": {"chi2": fit.chi2, "df": fit.df, "ratio": fit.ratio},
        "side_bias": _side_bias(fitted),
        "largest_design_effect": float(board.design_effects[board.established].max(initial=1.0)),
    }
    if voters and len(voters.n):
        facts["effective_voters"] = effective_voters(voters, votes=counts.total)
    if with_flip:
        facts["flips_first"] = _flip(tally, board, counts.names)
        facts["drops_first"] = _drop(tally, board, counts.names)
    if ballots is not None and (forecast := forecast_facts(ballots, tally, board)):
        facts["forecast"] = forecast
    if voters and with_agreement and (weighted := agreement_facts(voters, fitted, counts.names, offset=offset)):
        facts["agreement"] = weighted
    if voters and with_taste:
        facts["taste"] = taste_facts(voters, fitted, offset=offset)
    side = fitted.corrected
    del fitted, tally  # frees their arrays before the ranks need the memory
    if counts.listed:  # thousands of models: matrices are too large for kept memory
        release_freed_arrays()
    lines = _lines(counts, board, voters)
    if style is not None and (style_result := _fit_style(style, board, parameters, side=side)):
        _add_style_columns(lines, style_result.fit)
        facts["style"] = style_result.facts
        if style_result.context:
            facts["context"] = style_result.context
    return SnapshotFit(lines, facts, board)


def _flip(tally: Tally, board: Board, names: list[str]) -> FlipFacts | None:
    flip = votes_to_flip_first(tally, board)
    if flip is None:
        return None
    return {
        "votes": flip.votes,
        "winner": names[flip.winner],
        "loser": names[flip.loser],
        "first": names[flip.first],
    }


def _drop(tally: Tally, board: Board, names: list[str]) -> DropFacts | None:
    drop = votes_to_drop_first(tally, board)
    if drop is None:
        return None
    return {
        "votes": drop.votes,
        "first": names[drop.first],
        "ballots": [
            {"left": names[left], "right": names[right], "outcome": OUTCOMES[outcome], "votes": votes}
            for left, right, outcome, votes in drop.kinds.tolist()
        ],
    }


def _side_bias(fitted: SideBiasFit) -> SideBiasFacts | None:
    bias = fitted.side_bias
    if bias is None:
        return None
    return {
        "points": bias.points,
        "low": bias.low,
        "high": bias.high,
        "z": bias.z,
        "design_effect": bias.design_effect,
        "applied": fitted.corrected,
    }


def _lines(counts: Counts, board: Board, voters: VoterVotes | None) -> list[FitLine]:
    ranks = rank_board(board)
    both_bad_effects = both_bad_design_effects(voters, len(counts.names)).tolist() if voters else None
    left, right = counts.by_side
    wins, losses, (_, _, ties, both_bad) = left[0] + right[1], left[1] + right[0], left + right
    votes = counts.votes_per_model
    return [
        {
            "score": _finite(board.score[i]),
            "ci_low": _finite(board.low[i]),
            "ci_high": _finite(board.high[i]),
            "design_effect": float(board.design_effects[i]),
            "group": int(board.group[i]),
            "rank": int(ranks.rank[i]) or None,
            "rank_best": int(ranks.best[i]) or None,
            "rank_worst": int(ranks.worst[i]) or None,
            "tier": int(ranks.tier[i]) or None,
            "votes": int(votes[i]),
            "wins": int(wins[i]),
            "losses": int(losses[i]),
            "ties": int(ties[i]),
            "both_bad": int(both_bad[i]),
            "both_bad_design_effect": both_bad_effects[i] if both_bad_effects else None,
            "preliminary": bool(board.preliminary[i]),
        }
        for i in range(len(counts.names))
    ]


class _StyleResult(NamedTuple):
    fit: StyleFit
    facts: StyleFacts
    context: ContextFacts | None


def _fit_style(style: StyleInput, board: Board, parameters: JsonObject, *, side: bool) -> _StyleResult | None:
    """Fit the largest group. None where no model is established."""
    votes = style.votes
    scaling = style.scaling or scaling_of(votes.features, times=votes.n.astype(np.float64))
    try:
        fit, context = fit_style_and_context(
            votes,
            established=board.established & (board.group == 0),
            scaling=scaling,
            side=side,
            offset=parameters["offset"],
            in_fit=style.context,
        )
    except NotConnected:
        return None
    half = Z * fit.errors
    coefficients: dict[str, Interval] = {
        feature: {"value": value, "low": value - reach, "high": value + reach}
        for feature, value, reach in zip(FEATURES, fit.coefficients.tolist(), half.tolist(), strict=True)
    }
    facts: StyleFacts = {
        "coefficients": coefficients,
        "dropped": _feature_names(fit.dropped),
        "scaling": {"mean": scaling.mean.tolist(), "sd": scaling.sd.tolist()},
    }
    if fit.separating.any():
        facts["separating"] = _feature_names(fit.separating)
    if fit.side:
        points, error = fit.side
        facts["side"] = {"value": points, "low": points - Z * error, "high": points + Z * error}
    return _StyleResult(fit, facts, context)


def _feature_names(features: Flags) -> list[str]:
    return [feature for feature, is_included in zip(FEATURES, features, strict=True) if is_included]


def _add_style_columns(lines: list[FitLine], fit: StyleFit) -> None:
    """Add the style columns; ranks are among the models with a style score."""
    scored = np.flatnonzero(np.isfinite(fit.score))
    inside = np.ix_(scored, scored)
    ranks = rank_established(fit.score[scored], fit.low[scored], fit.high[scored], fit.covariance[inside])
    places = (ranks.rank, ranks.best, ranks.worst)
    rank, best, worst = (dict(zip(scored.tolist(), column.tolist(), strict=True)) for column in places)
    for i, line in enumerate(lines):
        line |= {
            "style_score": _finite(fit.score[i]),
            "style_ci_low": _finite(fit.low[i]),
            "style_ci_high": _finite(fit.high[i]),
            "style_rank": rank.get(i),
            "style_rank_best": best.get(i),
            "style_rank_worst": worst.get(i),
        }


def _finite(points: np.float64) -> float | None:
    return float(points) if np.isfinite(points) else None
