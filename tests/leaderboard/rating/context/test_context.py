from dataclasses import replace

import numpy as np
import pytest

from leaderboard.rating.ballots import ballots_of
from leaderboard.rating.bradley_terry import POINTS
from leaderboard.rating.context.covariates import UNKNOWN, context_covariates
from leaderboard.rating.snapshot_fit import SnapshotFit
from tests.worlds.ratings.context import ContextDesign, fit
from tests.worlds.ratings.simulations import arena, strengths

# Effects of a model met before, files, reasoning shown, a doubled wait.
EFFECTS = (0.3, 0.25, 0.0, -0.3)
DESIGN = ContextDesign(effects=EFFECTS)
MODELS, VOTES = DESIGN.models, DESIGN.votes


def styled(fitted: SnapshotFit) -> np.ndarray:
    return np.array([line["style_score"] for line in fitted.lines])


def test_effects_are_estimated_and_corrected_for():
    theta, ballots = DESIGN.sample(3)
    with_context, without = fit(ballots), fit(replace(ballots, context=None))
    context = with_context.facts["context"]
    assert context["unidentified"] == ["reasoning"]
    for name, truth in zip(("met_before", "files", "first_token"), (0.3, 0.25, -0.3), strict=True):
        effect = context["coefficients"][name]
        assert effect["low"] < truth < effect["high"]
        assert effect["applied"]
    assert with_context.facts["style"]["side"]["low"] < 0 < with_context.facts["style"]["side"]["high"]
    assert "context" not in without.facts
    errors = [np.abs(styled(fitted) - 1500 - POINTS * theta).max() for fitted in (with_context, without)]
    assert errors[0] < errors[1]
    plain = [[line["score"] for line in fitted.lines] for fitted in (with_context, without)]
    assert plain[0] == plain[1]


def test_effects_within_three_errors_stay_out_of_the_fit():
    _, ballots = replace(DESIGN, effects=(0, 0, 0, 0)).sample(4)
    with_context, without = fit(ballots), fit(replace(ballots, context=None))
    assert not any(effect["applied"] for effect in with_context.facts["context"]["coefficients"].values())
    assert with_context.lines == without.lines
    assert with_context.facts["style"] == without.facts["style"]


def test_swapped_sides_reverse_only_the_effect_of_files():
    _, ballots = DESIGN.sample(5)
    swapped = replace(
        ballots,
        counts=replace(ballots.counts, n=ballots.counts.n[[1, 0, 2, 3]].transpose(0, 2, 1)),
        left=ballots.right,
        right=ballots.left,
        outcome=np.array([1, 0, 2, 3])[ballots.outcome],
        context=ballots.context * (-1, 1, -1, -1),
    )
    first, second = fit(ballots), fit(swapped)
    np.testing.assert_allclose(styled(first), styled(second), atol=1e-8)
    for name, sign in (("met_before", 1), ("files", -1), ("first_token", 1)):
        effects = [fitted.facts["context"]["coefficients"][name]["value"] for fitted in (first, second)]
        assert effects[0] == pytest.approx(sign * effects[1], abs=1e-9)


def test_covariate_told_by_the_models_is_not_identified():
    rng = np.random.default_rng(6)
    votes = arena(rng, strengths(rng, MODELS), VOTES)
    shows = np.arange(MODELS) < 3
    reasoning = shows[votes.left].astype(int) - shows[votes.right].astype(int)
    names, still = [f"m{number}" for number in range(MODELS)], np.zeros(VOTES, dtype=np.int64)
    ballots = ballots_of(names, votes.left, votes.right, votes.outcome, voter=votes.voter)
    facts = fit(replace(ballots, context=context_covariates(still, still, reasoning, still, still))).facts
    assert facts["context"] == {
        "coefficients": {}, "unidentified": ["met_before", "files", "reasoning", "first_token"],
    }  # fmt: skip


def test_unknown_context_is_none_and_unknown_waits_are_zero():
    rows = np.array([UNKNOWN, (2, -1, 0, 3000, 1000), (0, 1, 1, -1, 500)]).T
    assert context_covariates(*rows[:, :1]) is None
    assert context_covariates(*rows).tolist() == [[0, 0, 0, 0], [-1, 1, 0, 1], [1, 0, 1, 0]]
