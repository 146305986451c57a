from collections.abc import Collection, Iterator

import pytest

from accounts.actor import Actor
from battles import series
from battles.models import Battle, Vote
from battles.series import VoteQuestion


class Reviews:
    """Owner of series: members read the board of one."""

    def url(self, series: str) -> str:
        return f"/about/{series}/"

    def choices(self, series: str) -> Collection[str]:
        return ["left", "right"] if series == "without-ties" else Vote.Choice.values

    def next_url(self, battle: Battle) -> str:
        return f"/next/{battle.series}/"

    def questions(self, series: str) -> list[VoteQuestion]:
        return []

    def may_read_board(self, actor: Actor, series: str) -> bool:
        return actor.user is not None and series == "a-review"

    def titles(self, series: Collection[str]) -> dict[str, str]:
        return {name: f"Review of {name}" for name in series}


@pytest.fixture
def reviews() -> Iterator[None]:
    registered = series.owner()
    series.register(Reviews())
    yield
    series.register(registered)
