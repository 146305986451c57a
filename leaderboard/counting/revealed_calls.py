"""Calls that public figures may count: none of a blind battle whose models are still hidden.

Calls count at once in modes that show the names, and of a blind battle from the first snapshot on that was published
after its vote, or after it became void. A figure that changed with an unvoted battle would name its models: two reads,
before and after the answers, would be enough.
"""

from datetime import datetime
from typing import NamedTuple, Self

from leaderboard.models import OVERALL, AggregationRun

# To be read with the parameters of Revealed. `model` is an expression: the id of the model that was called.
CALLS_OF_MODEL = """
battles_call AS call
JOIN battles_answer AS answer ON answer.id = call.answer_id
JOIN battles_turn AS turn ON turn.id = answer.turn_id
JOIN battles_battle AS battle ON battle.id = turn.battle_id
LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
WHERE call.model_id = {model}
AND (battle.mode <> 'blind' OR vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s)
"""


class Revealed(NamedTuple):
    """Blind battles that a snapshot comes after: voted on up to a number, or void before a moment."""

    last_order: int = 0
    moment: datetime | None = None

    @classmethod
    def by_newest_snapshot(cls) -> Self:
        newest = AggregationRun.objects.snapshots(OVERALL).values_list("last_order", "started_at").first()
        return cls(*newest) if newest else cls()
