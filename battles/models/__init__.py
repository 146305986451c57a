"""What happens in the arena: sessions, battles, sides, turns, answers, calls and votes."""

from battles.models.battles import Battle, Position, Side
from battles.models.calls import Call, CallQuerySet
from battles.models.categories import Category
from battles.models.sessions import Session
from battles.models.turns import Answer, Turn, TurnQuerySet
from battles.models.votes import Vote, VoteCounter, VoteQuerySet

__all__ = [
    "Answer",
    "Battle",
    "Call",
    "CallQuerySet",
    "Category",
    "Position",
    "Session",
    "Side",
    "Turn",
    "TurnQuerySet",
    "Vote",
    "VoteCounter",
    "VoteQuerySet",
]
