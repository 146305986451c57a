"""Style control with significant covariates of the context."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from leaderboard.rating.bradley_terry import Flags, Floats
from leaderboard.rating.context.covariates import COVARIATES
from leaderboard.rating.intervals import Z
from leaderboard.rating.snapshot_facts import ContextFacts, Effect
from leaderboard.rating.style_control import FEATURES, Scaling, StyleFit, fit_style

if TYPE_CHECKING:
    from leaderboard.rating.ballots import Ballots

# Standard errors beyond which a covariate joins the fit, as for the side bias.
MIN_Z = 3.0


def fit_style_and_context(
    votes: "Ballots",
    *,
    established: Flags,
    scaling: Scaling,
    side: bool,
    offset: float,
    in_fit: Collection[str] | None = None,
) -> tuple[StyleFit, ContextFacts | None]:
    """Return the fit, and the context's effects, None where no vote's context is known.

    in_fit: covariates to use, by default those beyond MIN_Z standard errors; their effects come from a fit of all with
    γ. See fit_style.
    """

    def fit(covariates: list[str], *, with_side: bool) -> StyleFit:
        features = votes.features
        if covariates and votes.context is not None:
            columns = [COVARIATES.index(name) for name in covariates]
            features = np.concatenate([features, votes.context[:, columns]], axis=1)
        unit = np.zeros(len(covariates))
        return fit_style(
            votes.left,
            votes.right,
            votes.share,
            features,
            established=established,
            scaling=Scaling(np.append(scaling.mean, unit), np.append(scaling.sd, unit + 1)),
            times=votes.n.astype(np.float64),
            voter=votes.voter,
            side=with_side,
            offset=offset,
        )

    if votes.context is None:
        return fit([], with_side=side), None
    varying = _varying(votes.context, established[votes.left] & established[votes.right])
    effects: dict[str, Effect] = {}
    if varying:
        effects = _effects(fit(varying, with_side=True), varying, in_fit)
    applied = [name for name, effect in effects.items() if effect["applied"]]
    facts: ContextFacts = {
        "coefficients": effects,
        "unidentified": [name for name in COVARIATES if name not in effects],
    }
    # Files are the same for both sides: without γ, theirs would be the advantage of all votes.
    styled = fit(applied, with_side=side or "files" in applied)
    count = len(FEATURES)
    own = {name: getattr(styled, name)[:count] for name in ("coefficients", "errors", "dropped", "separating")}
    return replace(styled, **own), facts


def _varying(context: Floats, rows: Flags) -> list[str]:
    values = context[rows]
    return [
        name for name, column in zip(COVARIATES, values.T, strict=True) if len(column) and column.min() < column.max()
    ]


def _effects(fit: StyleFit, names: list[str], in_fit: Collection[str] | None) -> dict[str, Effect]:
    count = len(FEATURES)
    rows = zip(names, fit.coefficients[count:].tolist(), fit.errors[count:].tolist(), fit.dropped[count:], strict=True)
    return {
        name: {
            "value": value,
            "low": value - Z * error,
            "high": value + Z * error,
            "applied": abs(value) > MIN_Z * error if in_fit is None else name in in_fit,
        }
        for name, value, error, is_dropped in rows
        if not is_dropped
    }
