from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from battles.models import Turn, Vote
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.export_rows import VoteRow

# Smaller than without texts, which may be long.
BATCH = 200
_COLUMNS = ("order", "battle", "battle__consent")


class ExportedTurn(msgspec.Struct, frozen=True):
    """A prompt without its files, and both answers."""

    prompt: str
    left: str
    right: str


class VoteWithPrompts(VoteRow, frozen=True, kw_only=True):
    """Row with the version of the consent text and the turns; both are null without consent."""

    consent: str | None
    turns: list[ExportedTurn] | None


class Conversation(NamedTuple):
    consent: str
    turns: list[ExportedTurn]


def with_prompts(batches: Iterable[list[VoteRow]], *, until: int) -> Iterator[list[VoteWithPrompts]]:
    """Yield the rows in smaller batches with three more queries each. Rows of battles only, not of imported votes.

    until: number in the log of the last vote.

    A row has texts if the voter consented, the row and the vote still count, the battle is not hidden and its session
    is not deleted.
    """
    numbers = SiteNumbers.read("battles_vote", until=until)
    for rows in batches:
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            conversations = read_conversations([numbers.in_log(row.order) for row in batch if row.counts])
            yield [_row(row, conversations.get(numbers.in_log(row.order))) for row in batch]


def _row(row: VoteRow, conversation: Conversation | None) -> VoteWithPrompts:
    consent, turns = conversation or (None, None)
    return VoteWithPrompts(**msgspec.structs.asdict(row), consent=consent, turns=turns)


def read_conversations(orders: list[int]) -> dict[int, Conversation]:
    """Return {vote's number: texts}, without votes whose texts may not be published."""
    votes = Vote.objects.with_consent().filter(order__in=orders)
    consents = {battle: (order, consent) for order, battle, consent in votes.values_list(*_COLUMNS)}
    turns: dict[int, list[ExportedTurn]] = defaultdict(list)
    voted_on = Turn.objects.filter(battle__in=list(consents), after_vote=False).order_by("battle", "index")
    for turn in voted_on.prefetch_related("answers__side"):
        turns[turn.battle_id].append(ExportedTurn(turn.prompt, **_texts_by_side(turn)))
    return {order: Conversation(consent, turns[battle]) for battle, (order, consent) in consents.items()}


def _texts_by_side(turn: Turn) -> dict[str, str]:
    return {answer.side.position: answer.text for answer in turn.answers.all()}
