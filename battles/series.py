"""Port of the app that shows stored answers to people: its reviews are series of battles (docs/adr/0088).

`series` is the public id of a review everywhere; battles and boards know nothing else of it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from accounts.actor import Actor
from battles.models import Battle, Vote


@dataclass(frozen=True)
class VoteQuestion:
    """steps: answers, numbered from 1."""

    text: str
    steps: Sequence[str]


class SeriesOwner(Protocol):
    def url(self, series: str) -> str:
        """Return the address of the instructions, or ""."""

    def next_url(self, battle: Battle) -> str:
        """Return the address of what follows after the vote on the battle, or ""."""

    def choices(self, series: str) -> Collection[str]:
        """Return the choices that a vote may have."""

    def questions(self, series: str) -> Sequence[VoteQuestion]: ...

    def may_read_board(self, actor: Actor, series: str) -> bool: ...

    def titles(self, series: Collection[str]) -> dict[str, str]:
        """Return titles by series; unknown ones are left out."""


class _NoOwner:
    def url(self, series: str) -> str:
        return ""

    def choices(self, series: str) -> Collection[str]:
        return Vote.Choice.values

    def next_url(self, battle: Battle) -> str:
        return ""

    def questions(self, series: str) -> Sequence[VoteQuestion]:
        return ()

    def may_read_board(self, actor: Actor, series: str) -> bool:
        return False

    def titles(self, series: Collection[str]) -> dict[str, str]:
        return {}


NO_OWNER: SeriesOwner = _NoOwner()
_owner = NO_OWNER


def register(owner: SeriesOwner) -> None:
    """Call from AppConfig.ready."""
    global _owner
    _owner = owner


def owner() -> SeriesOwner:
    return _owner
