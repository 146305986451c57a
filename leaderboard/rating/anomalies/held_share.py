"""Caps on the share of Overall's votes that open reviews hold."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class HeldVotes:
    """Votes held by open reviews of voters and groups; every: held and counted."""

    of_voters: int
    of_groups: int
    every: int

    def leaves_room(self, votes: int, *, is_group: bool, caps: Mapping[str, float]) -> bool:
        """Return whether a further review may hold `votes`; caps: of "voters" and "groups", as shares of every vote."""
        if is_group:
            return self.of_groups + votes <= caps["groups"] * self.every
        # One voter alone may be held up to the cap on groups, so that a young board is protected, too.
        cap = min(caps.values()) if self.of_voters else caps["groups"]
        return self.of_voters + votes <= cap * self.every
