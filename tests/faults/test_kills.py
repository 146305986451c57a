"""Programs killed during answers lose, double and block nothing."""

import signal
from typing import Any

import pytest
import redis

from tests.fake_provider import FakeProvider
from tests.faults.battling import (
    HALTED,
    SHORT,
    answered_battle,
    complete_texts,
    start_halted_battle,
    texts,
    vote,
    wait_until_answered,
)
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import ANSWERS, POSTGRES, VALKEY, Arena
from tests.worlds.otlp_sink import OtlpSink

pytestmark = pytest.mark.faults


def turn_in_its_trace(arena: Arena, collector: OtlpSink, battle: dict[str, Any]) -> Any:
    """Wait for the trace of a battle; return its turn, which hangs on the request with its calls and answers."""
    [(trace,)] = arena.query(
        "SELECT trace FROM battles_turn AS turn JOIN battles_battle AS battle ON battle.id = turn.battle_id "
        "WHERE battle.public_id = %s",
        battle["id"],
    )
    spans = collector.wait_for(trace[3:35], POST=1, start=1, turn=1, chat=2, store=2)
    [request, start, turn] = [next(s for s in spans if s.name.startswith(name)) for name in ("POST", "start", "turn")]
    assert (start.parent, turn.parent) == (request.id, start.id)
    assert [s.parent for s in spans if s.name.startswith(("chat", "store"))] == [turn.id] * 4
    return turn


def test_killed_worker_is_replaced_and_text_is_whole(
    arena: Arena, reader: Reader, steady_provider: FakeProvider, collector: OtlpSink
):
    battle = reader.start_battle(HALTED)
    events = reader.follow(battle["stream_url"])
    assert "text" in (name for _, name, _ in events)
    arena.signal(ANSWERS)
    steady_provider.go_on()
    seen = [name for _, name, _ in events]
    assert seen[-1] == "end"
    assert "reset" in seen
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
    assert turn_in_its_trace(arena, collector, battle).attributes["arena.attempt"] == 2


def test_stopped_worker_requeues_its_answer(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    battle = start_halted_battle(reader, steady_provider)
    arena.signal(ANSWERS, signal.SIGTERM)
    wait_for(lambda: steady_provider.calls["steady"] == 4)
    steady_provider.go_on()
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
    states = arena.query(
        "SELECT call.state FROM battles_call AS call JOIN battles_answer AS answer ON answer.id = call.answer_id "
        "JOIN battles_turn AS turn ON turn.id = answer.turn_id JOIN battles_battle AS battle "
        "ON battle.id = turn.battle_id WHERE battle.public_id = %s ORDER BY call.id",
        battle["id"],
    )
    assert [state for (state,) in states] == ["lost", "lost", "done", "done"]


def test_killed_valkey_loses_no_text_and_no_vote(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    earlier = answered_battle(reader)
    battle = start_halted_battle(reader, steady_provider)
    arena.signal(VALKEY)
    steady_provider.go_on()
    assert vote(reader, earlier).status_code == 201
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
    assert reader.battle(earlier["id"])["vote"]["choice"] == "left"


def test_flushed_valkey_loses_no_text_and_ends_streams(
    arena: Arena, reader: Reader, steady_provider: FakeProvider, collector: OtlpSink
):
    battle, waiting = reader.start_battle(HALTED), reader.start_battle(HALTED)
    events = reader.follow(battle["stream_url"])
    next(events)
    redis.Redis.from_url(arena.services["REDIS_URL"]).flushall()
    steady_provider.go_on()
    assert [name for _, name, _ in events][-1] == "end"
    for each in (battle, waiting):
        assert texts(wait_until_answered(reader, each)) == complete_texts(HALTED)
        assert turn_in_its_trace(arena, collector, each).attributes["arena.attempt"] == 1


def kill_twice(arena: Arena, program: str) -> None:
    first = arena.signal(program)
    wait_for(lambda: arena.pid_of(program) not in (None, first))
    second = arena.signal(program)
    wait_for(lambda: arena.has_restarted(program, second))


@pytest.mark.parametrize(("program", "calls"), [(ANSWERS, 8), (VALKEY, 4)], ids=["worker", "valkey"])
def test_program_killed_twice_loses_no_battle(
    arena: Arena, reader: Reader, steady_provider: FakeProvider, program: str, calls: int
):
    battles = [reader.start_battle(HALTED) for _ in range(2)]
    wait_for(lambda: steady_provider.calls["steady"] == 4)
    kill_twice(arena, program)
    wait_for(lambda: steady_provider.calls["steady"] == calls)
    wait_for(arena.is_ready)  # circuit breakers close by themselves
    late = reader.start_battle(SHORT)
    steady_provider.go_on()
    assert [texts(wait_until_answered(reader, battle)) for battle in battles] == [complete_texts(HALTED)] * 2
    assert texts(wait_until_answered(reader, late)) == complete_texts(SHORT)
    assert steady_provider.calls["steady"] == calls + 2
    states = arena.query(
        "SELECT turn.state, turn.attempt, count(*) FROM battles_turn AS turn JOIN battles_battle AS battle "
        "ON battle.id = turn.battle_id WHERE battle.public_id = ANY(%s) GROUP BY turn.state, turn.attempt",
        [battle["id"] for battle in battles],
    )
    assert states == [("done", calls // 4, 2)]


def test_killed_postgresql_calls_no_model_twice(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    battle = start_halted_battle(reader, steady_provider)
    arena.signal(POSTGRES)
    steady_provider.go_on()
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
    assert steady_provider.calls["steady"] == 2


def test_stopped_arena_keeps_votes_and_resumes_turns(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    voted = answered_battle(reader)
    vote(reader, voted, "tie")
    battle = start_halted_battle(reader, steady_provider)
    arena.launcher.send_signal(signal.SIGTERM)
    assert arena.launcher.wait(300) == 0
    steady_provider.go_on()
    arena.start()
    assert reader.battle(voted["id"])["vote"]["choice"] == "tie"
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
