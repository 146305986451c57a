from collections.abc import Iterator

import msgspec

from battles.models import Vote, VoteQuerySet
from common.tables.table import Table
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.exports.conversations import BATCH, ExportedTurn, read_conversations
from leaderboard.models import ReleasedText


class ReleasedConversation(msgspec.Struct, frozen=True):
    """Turns of the vote with this number; a tombstone, without them, if they were released and then withdrawn."""

    order: int
    withdrawn: bool
    consent: str | None
    turns: list[ExportedTurn] | None


def _cells(row: ReleasedConversation) -> tuple[object, ...]:
    turns = None if row.turns is None else msgspec.json.encode(row.turns).decode()
    return (row.order, row.withdrawn, row.consent, turns)


CONVERSATIONS = Table(ReleasedConversation.__struct_fields__, {"order": "int64", "withdrawn": "bool"}, _cells)


def _orders(votes: VoteQuerySet) -> set[int]:
    return {order for order in votes.values_list("order", flat=True) if order is not None}


def batches(last_order: int) -> Iterator[list[ReleasedConversation]]:
    """Yield conversations with consent and tombstones up to this number, in order."""
    numbers = SiteNumbers.read("battles_vote", until=last_order)
    votes = Vote.objects.on_overall().filter(order__lte=last_order)
    agreed = _orders(votes.with_consent())
    orders = sorted(agreed | _orders(votes.filter(pk__in=ReleasedText.objects.values("vote"))))
    for start in range(0, len(orders), BATCH):
        batch = orders[start : start + BATCH]
        conversations = read_conversations(batch)
        yield [
            ReleasedConversation(numbers.shown(order), False, conversations[order].consent, conversations[order].turns)
            if order in conversations
            else ReleasedConversation(numbers.shown(order), True, None, None)
            for order in batch
            # Withdrawn since the query above and never released: no tombstone.
            if order in conversations or order not in agreed
        ]
