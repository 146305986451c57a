# One statement instead of one for each table: docs/adr/0059.

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from django.db import connection
from django.db.models import Model

from battles.models import Answer, Battle, Side, Turn
from battles.sql import read_sql
from common import tracing
from models_registry.models import Charge

_SESSION = ("id", "public_id", "owner_user_id", "owner_visitor_id", "team_id", "title", "archived")
_BATTLE = (
    "public_id", "session_id", "mode", "origin", "categories", "language", "labelled_by", "prompt_digest",
    "propensity", "filters", "needs_images", "consent",
)  # fmt: skip


def insert_battle(
    battle: Battle, sides: Sequence[Side], *, prompt: str, charges: Mapping[str, Charge]
) -> tuple[Turn, list[Answer]]:
    """Insert the battle, its session if new, sides, first turn and answers. charges: by position."""
    session = battle.session
    turn = Turn(battle=battle, index=0, prompt=prompt, trace=tracing.current_traceparent())
    answers = [Answer(turn=turn, side=side, charge=charges.get(side.position)) for side in sides]
    rows = {
        "session": _columns(session, _SESSION),
        "battle": _columns(battle, _BATTLE),
        "prompt": prompt,
        "trace": turn.trace,
        "sides": [
            {
                "position": side.position, "model_id": side.model_id, "chosen": side.chosen,
                "answer_public_id": answer.public_id, "charge_id": answer.charge_id,
            }
            for side, answer in zip(sides, answers, strict=True)
        ],
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(read_sql("insert_battle.sql"), [msgspec.json.encode(rows).decode()])
        inserted = {row[0]: row[1:] for row in cursor.fetchall()}
    session_id, battle_id, turn_id, at = next(iter(inserted.values()))[:4]
    if session._state.adding:
        _set_saved(session, session_id, created_at=at, last_active_at=at)
    battle.session = session  # has its id now, like each instance that is set again below
    _set_saved(battle, battle_id, created_at=at)
    turn.battle = battle
    _set_saved(turn, turn_id, queued_at=at, created_at=at)
    for side, answer in zip(sides, answers, strict=True):
        side_id, answer_id = inserted[side.position][4:]
        side.battle = battle
        _set_saved(side, side_id)
        answer.turn, answer.side = turn, side
        _set_saved(answer, answer_id)
    return turn, answers


def _columns(instance: Model, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(instance, name) for name in names}


def _set_saved(instance: Model, pk: int, **columns: datetime) -> None:
    instance.pk = pk
    for name, value in columns.items():
        setattr(instance, name, value)
    instance._state.adding, instance._state.db = False, connection.alias
