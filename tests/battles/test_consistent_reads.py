"""Reads are consistent even if a turn's end is committed between their queries."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.actor import Actor
from battles.models import Battle, Turn
from battles.payloads import battle_payload
from battles.queries import find_battle_with_related, get_battle, get_battles_of_sessions, get_session_battles
from battles.worker.turn_store import fail_expired
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

MAX_QUERIES = 12
READERS: dict[str, Callable[[Battle], Any]] = {
    "find_battle_with_related": lambda battle: find_battle_with_related(
        Actor(visitor=battle.session.owner_visitor), battle.public_id
    ),
    "get_battle": lambda battle: get_battle(battle.pk),
    "get_session_battles": lambda battle: get_session_battles(battle.session)[0],
    "get_battles_of_sessions": lambda battle: get_battles_of_sessions([battle.session])[0],
}


def battle_being_answered() -> Battle:
    """Return a battle whose expired lease lets fail_expired() fail both sides."""
    battle = make.battle(make.model(), make.model())
    expired = timezone.now() - timedelta(minutes=1)
    battle.turns.update(state=Turn.State.ANSWERING, attempt=2, fence=1, lease_until=expired)
    return battle


def run_on_another_connection(work: Callable[[], Any]) -> None:
    def work_and_close() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(work_and_close).result()


@contextmanager
def committing(work: Callable[[], Any], *, before_query: int) -> Iterator[list[str]]:
    """Commit `work` on another connection before that query; yield the growing list of queries."""
    queries: list[str] = []

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        queries.append(sql)
        if len(queries) == before_query:
            run_on_another_connection(work)
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield queries


@pytest.mark.parametrize("name", READERS)
def test_failing_turn_is_read_in_one_state(name: str):
    read, seen = READERS[name], []
    for number in range(1, MAX_QUERIES):
        battle = battle_being_answered()
        turn_id = battle.turns.get().pk
        with committing(lambda turn_id=turn_id: fail_expired(turn_id), before_query=number) as queries:
            shown = battle_payload(read(battle))
        answers = {answer["state"] for turn in shown["turns"] for answer in turn["answers"]}
        seen.append((shown["state"], shown["stream_url"] is None, *answers))
        if len(queries) < number:
            break
    assert set(seen) == {("answering", False, "streaming"), ("void", True, "failed")}
    assert len(queries) < number, "MAX_QUERIES is too small"
