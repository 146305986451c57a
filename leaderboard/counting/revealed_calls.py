"""Calls that public figures may use.

Calls of a blind battle count from the first snapshot after its vote or its end as void: earlier, figures before and
after the answers would reveal the models.
"""

from datetime import datetime
from typing import NamedTuple, Self

from leaderboard.models import OVERALL, AggregationRun

# Takes RevealCutoff as query parameters. {model} is an SQL expression for the id of the called model.
CALLS_OF_MODEL = """
battles_call AS call
JOIN battles_answer AS answer ON answer.id = call.answer_id
JOIN battles_turn AS turn ON turn.id = answer.turn_id
JOIN battles_battle AS battle ON battle.id = turn.battle_id
LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
WHERE call.model_id = {model}
AND (battle.mode <> 'blind' OR vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s)
"""


class RevealCutoff(NamedTuple):
    """Latest blind battles to count: number of the last vote, and time until which void ones count."""

    last_order: int = 0
    moment: datetime | None = None

    @classmethod
    def of_newest_snapshot(cls) -> Self:
        newest = AggregationRun.objects.snapshots(OVERALL).values_list("last_order", "started_at").first()
        return cls(*newest) if newest else cls()
