"""Single votes as the arrays that fits need."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.clustering import LEFT_SHARES, VoterVotes
from leaderboard.rating.context.covariates import CONTEXT, UNKNOWN, context_covariates
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.name_numbers import NameNumbers
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.style_control import FEATURES, style_features

_OUTCOME_INDEX = {outcome: index for index, outcome in enumerate(OUTCOMES)}
_NO_STYLE = (0,) * (2 * len(FEATURES))


@dataclass(frozen=True)
class Ballots:
    """Votes in order of arrival; arrays of shape (rows,).

    left, right: indices in counts.names; outcome: index in OUTCOMES; n: equal votes of a row; voter: −1 if unknown;
    features: shape (rows, k), see style_features, 0 where the style is unknown; context: see context_covariates.
    """

    counts: Counts
    left: Indices
    right: Indices
    outcome: Indices
    n: Indices
    voter: Indices
    features: Floats
    context: Floats | None = None

    @property
    def share(self) -> Floats:
        """Share of the left side: 1, 0 or ½."""
        shares: Floats = LEFT_SHARES[self.outcome]
        return shares

    @property
    def voter_votes(self) -> VoterVotes:
        known = self.voter >= 0
        return VoterVotes(self.voter[known], self.left[known], self.right[known], self.outcome[known], self.n[known])


class BallotsBuilder:
    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._voters: dict[str, int] = {"": -1}
        self._votes = array("q")  # left, right, outcome, n and voter of each vote
        self._styles, self._contexts = array("q"), array("q")

    def add(
        self,
        left: str,
        right: str,
        outcome: str,
        *,
        n: int = 1,
        voter: str = "",
        style: Sequence[int] | None = None,
        context: Sequence[int] | None = None,
    ) -> None:
        """Add `n` equal votes. style: the left side's counts of FEATURES, then the right side's; context: CONTEXT."""
        names, voters = self._names, self._voters
        self._votes.extend(
            (
                names.setdefault(left, len(names)),
                names.setdefault(right, len(names)),
                _OUTCOME_INDEX[outcome],
                n,
                voters.setdefault(voter, len(voters)),
            )
        )
        self._styles.extend(_NO_STYLE if style is None else style)
        self._contexts.extend(UNKNOWN if context is None else context)

    def build(self) -> Ballots:
        left, right, outcome, n, voter = _table(self._votes, 5).T
        styles = _table(self._styles, len(_NO_STYLE))
        ballots = ballots_of(list(self._names), left, right, outcome, n=n, voter=voter, styles=styles)
        return replace(ballots, context=context_covariates(*_table(self._contexts, len(CONTEXT)).T))


def ballots_of(
    names: list[str],
    left: Indices,
    right: Indices,
    outcome: Indices,
    *,
    n: Indices | None = None,
    voter: Indices | None = None,
    styles: Indices | None = None,
) -> Ballots:
    """Return ballots; left, right: indices in `names`, in any order.

    styles: the left side's counts of FEATURES, then the right side's, shape (rows, 2 · features).
    """
    ordered = sorted(names)
    position = {name: index for index, name in enumerate(ordered)}
    index = np.array([position[name] for name in names], dtype=np.int64)
    # The mode "wrap" takes the shortest time.
    left, right = (index.take(side, mode="wrap") for side in (left, right)) if len(names) else (left, right)
    n = np.broadcast_to(np.int64(1), len(left)) if n is None else n
    voter = np.broadcast_to(np.int64(-1), len(left)) if voter is None else voter
    features = np.zeros((len(left), len(FEATURES)))
    if styles is not None:
        features = style_features(styles[:, : len(FEATURES)], styles[:, len(FEATURES) :])
    return Ballots(count_votes(ordered, left, right, outcome, n), left, right, outcome, n, voter, features)


def ballots_of_names(left: Sequence[str], right: Sequence[str], outcome: Sequence[str]) -> Ballots:
    """Return single votes; outcome: values of OUTCOMES. Raises KeyError for others."""
    names, outcomes = NameNumbers(), NameNumbers(OUTCOMES)
    first, second, numbers = names.of(left), names.of(right), outcomes.of(outcome)
    if unknown := outcomes.in_order()[len(OUTCOMES) :]:
        raise KeyError(unknown[0])
    return ballots_of(names.in_order(), first, second, numbers)


def _table(numbers: "array[int]", columns: int) -> NDArray[np.int64]:
    return np.frombuffer(numbers, dtype=np.int64).reshape(-1, columns)
