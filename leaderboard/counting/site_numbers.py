"""Shown numbers of votes and stars leave out those that count in teams alone (docs/adr/0084)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.counting.columns import Column, Integers, read_columns

Table = Literal["battles_vote", "battles_starrating"]


@dataclass(frozen=True)
class SiteNumbers:
    """skipped: numbers in the log, ascending."""

    skipped: Integers

    @classmethod
    def read(cls, table: Table, *, until: int) -> "SiteNumbers":
        return cls(_orders(table, "NOT on_site_boards", until=until))

    @classmethod
    def outside_of_team(cls, table: Table, team: int, *, until: int) -> "SiteNumbers":
        own = _orders(table, "team_id = %(team)s", until=until, team=team)
        return cls(np.setdiff1d(np.arange(1, until + 1), own, assume_unique=True))

    def shown(self, order: int) -> int:
        return order - int(np.searchsorted(self.skipped, order, side="right"))

    def in_log(self, shown: int) -> int:
        return shown + int(np.searchsorted(self.skipped - np.arange(len(self.skipped)), shown, side="right"))


def _orders(table: Table, condition: str, *, until: int, team: int | None = None) -> Integers:
    source = f'FROM {table} WHERE {condition} AND "order" <= %(until)s'
    rows = read_columns({"order": Column('"order"', 8)}, source, {"until": until, "team": team})
    return np.sort(rows["order"])
