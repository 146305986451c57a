"""Votes taken one at a time, gathered into the arrays that fits are made of."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.rating.bradley_terry import Floats, Indices
from leaderboard.rating.clustering import LEFT_SHARES, VoterVotes
from leaderboard.rating.counts import OUTCOMES, Counts, counted
from leaderboard.rating.style_control import FEATURES, style_features

_PLACE = {outcome: place for place, outcome in enumerate(OUTCOMES)}
_NO_STYLE = (0,) * (2 * len(FEATURES))


@dataclass(frozen=True)
class Ballots:
    """Every vote, in the order it came; arrays have shape (votes,) where nothing else is said.

    left, right: places in counts.names; outcome: places in OUTCOMES; n: how many such votes; voter: any numbers, −1
    where nobody knows; features: shape (votes, k), as style_features gives them, 0 where the style is not known.
    """

    counts: Counts
    left: Indices
    right: Indices
    outcome: Indices
    n: Indices
    voter: Indices
    features: Floats

    @property
    def share(self) -> Floats:
        """What the left side took: 1, 0 or ½."""
        shares: Floats = LEFT_SHARES[self.outcome]
        return shares

    @property
    def of_voters(self) -> VoterVotes:
        """The votes whose voter is known."""
        known = self.voter >= 0
        return VoterVotes(self.voter[known], self.left[known], self.right[known], self.outcome[known], self.n[known])


class Gathering:
    """What `add` was told of, in a few bytes for each vote."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._voters: dict[str, int] = {"": -1}
        self._votes = array("q")  # five numbers for each vote
        self._styles = array("q")

    def add(
        self, left: str, right: str, outcome: str, *, n: int = 1, voter: str = "", style: Sequence[int] | None = None
    ) -> None:
        """style: the left side's counts of FEATURES, then the right side's."""
        names, voters = self._names, self._voters
        self._votes.extend(
            (
                names.setdefault(left, len(names)),
                names.setdefault(right, len(names)),
                _PLACE[outcome],
                n,
                voters.setdefault(voter, len(voters)),
            )
        )
        self._styles.extend(_NO_STYLE if style is None else style)

    def ballots(self) -> Ballots:
        names = sorted(self._names)
        place = np.empty(len(names), dtype=np.int64)
        place[[self._names[name] for name in names]] = np.arange(len(names))
        votes = _table(self._votes, 5)
        left, right, outcome, n, voter = place[votes[:, 0]], place[votes[:, 1]], *votes[:, 2:].T
        styles = _table(self._styles, len(_NO_STYLE))
        features = style_features(styles[:, : len(FEATURES)], styles[:, len(FEATURES) :])
        return Ballots(counted(names, left, right, outcome, n), left, right, outcome, n, voter, features)


def _table(numbers: "array[int]", columns: int) -> NDArray[np.int64]:
    return np.frombuffer(numbers, dtype=np.int64).reshape(-1, columns)
