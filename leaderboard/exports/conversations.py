"""Votes with what was asked and answered before them, of people who agreed to that."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from battles.models import Turn, Vote
from leaderboard.export_rows import VoteRow

# Texts may be long: fewer rows at a time than without them.
BATCH = 200
_OF_A_VOTE = ("order", "battle", "battle__consent")


class SaidTurn(msgspec.Struct, frozen=True):
    """A prompt without its files, and both answers."""

    prompt: str
    left: str
    right: str


class VoteWithPrompts(VoteRow, frozen=True, kw_only=True):
    """`consent` is the version of the words that the voter agreed to; without consent both are null."""

    consent: str | None
    turns: list[SaidTurn] | None


class Conversation(NamedTuple):
    consent: str
    turns: list[SaidTurn]


def with_prompts(batches: Iterable[list[VoteRow]]) -> Iterator[list[VoteWithPrompts]]:
    """The same rows in smaller pieces, with three queries more for each. Rows of battles only, not of imported votes.

    Texts come with a row that counts, if the vote still does, nobody hid the battle and its session is not deleted.
    """
    for rows in batches:
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            said = _conversations([row.order for row in some if row.counts])
            yield [_row(row, said.get(row.order)) for row in some]


def _row(row: VoteRow, said: Conversation | None) -> VoteWithPrompts:
    consent, turns = said or (None, None)
    return VoteWithPrompts(**msgspec.structs.asdict(row), consent=consent, turns=turns)


def _conversations(orders: list[int]) -> dict[int, Conversation]:
    """By the vote's number."""
    votes = Vote.objects.with_consent().filter(order__in=orders)
    agreed = {battle: (order, consent) for order, battle, consent in votes.values_list(*_OF_A_VOTE)}
    turns: dict[int, list[SaidTurn]] = defaultdict(list)
    voted_on = Turn.objects.filter(battle__in=list(agreed), after_vote=False).order_by("battle", "index")
    for turn in voted_on.prefetch_related("answers__side"):
        turns[turn.battle_id].append(SaidTurn(turn.prompt, **_by_side(turn)))
    return {order: Conversation(consent, turns[battle]) for battle, (order, consent) in agreed.items()}


def _by_side(turn: Turn) -> dict[str, str]:
    return {answer.side.position: answer.text for answer in turn.answers.all()}
