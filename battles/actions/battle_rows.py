# One statement instead of one for each table: docs/adr/0059.

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec
from django.db import connection
from django.db.models import Model

from battles.models import Answer, Battle, Turn
from battles.sql import read_sql

_SESSION = ("id", "public_id", "owner_user_id", "owner_visitor_id", "team_id", "title", "archived")
_BATTLE = (
    "public_id", "session_id", "mode", "origin", "series", "conceals_names", "categories", "language", "labelled_by",
    "prompt_digest", "propensity", "filters", "needs_images", "consent",
)  # fmt: skip
_SIDE = ("position", "model_id", "chosen")
_TURN = ("index", "prompt", "state", "trace")
_ANSWER = ("public_id", "charge_id", "call_id", "state", "text", "reasoning", "leaks_identity")


def insert_battle(battle: Battle, answers: Sequence[Answer]) -> None:
    """Insert the battle, its session if new, and the answers with their sides and turns; set ids and times.

    answers: of each side in each turn.
    """
    session = battle.session
    sides = {answer.side.position: answer.side for answer in answers}
    turns = {answer.turn.index: answer.turn for answer in answers}
    rows = {
        "session": _columns(session, _SESSION),
        "battle": _columns(battle, _BATTLE),
        "sides": [_columns(side, _SIDE) for side in sides.values()],
        "turns": [_columns(turn, _TURN) for turn in turns.values()],
        "answers": [
            _columns(answer, _ANSWER)
            | {"index": answer.turn.index, "position": answer.side.position, "html": str.__str__(answer.html)}
            for answer in answers
        ],
    }
    with connection.cursor() as cursor:
        cursor.execute(read_sql("insert_battle.sql"), [msgspec.json.encode(rows).decode()])
        inserted = {row[3]: row for row in cursor.fetchall()}
    session_id, battle_id, at = next(iter(inserted.values()))[:3]
    if session._state.adding:
        _set_saved(session, session_id, created_at=at, last_active_at=at)
    battle.session = session  # has its id now, like each instance that is set again below
    _set_saved(battle, battle_id, created_at=at)
    for answer in answers:
        side_id, turn_id, answer_id = inserted[answer.public_id][4:]
        side, turn = answer.side, answer.turn
        side.battle = turn.battle = battle
        _set_saved(side, side_id)
        _set_saved(turn, turn_id, queued_at=at, created_at=at)
        if turn.state == Turn.State.DONE:
            turn.finished_at = at
        answer.turn, answer.side = turn, side
        _set_saved(answer, answer_id)


def _columns(instance: Model, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(instance, name) for name in names}


def _set_saved(instance: Model, pk: int, **columns: datetime) -> None:
    instance.pk = pk
    for name, value in columns.items():
        setattr(instance, name, value)
    instance._state.adding, instance._state.db = False, connection.alias
