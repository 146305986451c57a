"""Whatever is killed while models answer: nothing is lost, nothing doubled, nothing stuck."""

import signal

import pytest
import redis

from tests.fake_provider import FakeProvider
from tests.faults.battling import LONG, answered, begun, finished, texts, vote, whole
from tests.faults.running import ANSWERS, POSTGRES, VALKEY, Arena
from tests.site import Reader

pytestmark = pytest.mark.faults


def test_a_worker_killed_mid_answer_is_replaced_and_the_text_is_whole(arena: Arena, reader: Reader):
    battle = reader.start_battle(LONG)
    events = reader.follow(battle["stream_url"])
    seen = [next(events)[1] for _ in range(12)]
    arena.signal(ANSWERS)
    seen += [name for _, name, _ in events]
    assert seen[-1] == "end"
    assert "reset" in seen
    assert texts(finished(reader, battle, within=2)) == whole(LONG)


def test_a_worker_told_to_stop_mid_answer_hands_over(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    battle = begun(reader, steady_provider)
    arena.signal(ANSWERS, signal.SIGTERM)
    assert texts(finished(reader, battle, within=20)) == whole(LONG)
    states = arena.query(
        "SELECT call.state FROM battles_call AS call JOIN battles_answer AS answer ON answer.id = call.answer_id "
        "JOIN battles_turn AS turn ON turn.id = answer.turn_id JOIN battles_battle AS battle "
        "ON battle.id = turn.battle_id WHERE battle.public_id = %s ORDER BY call.id",
        battle["id"],
    )
    assert [state for (state,) in states] == ["lost", "lost", "done", "done"]


def test_valkey_killed_mid_answer_costs_no_word_and_no_vote(
    arena: Arena, reader: Reader, steady_provider: FakeProvider
):
    earlier = answered(reader)
    battle = begun(reader, steady_provider)
    arena.signal(VALKEY)
    assert vote(reader, earlier).status_code == 201
    assert texts(finished(reader, battle, within=30)) == whole(LONG)
    assert reader.battle(earlier["id"])["vote"]["choice"] == "left"


def test_emptying_valkey_mid_answer_costs_no_word_and_every_reader_gets_an_end(arena: Arena, reader: Reader):
    battle, waiting = reader.start_battle(LONG), reader.start_battle(LONG)
    events = reader.follow(battle["stream_url"])
    next(events)
    redis.Redis.from_url(arena.services["REDIS_URL"]).flushall()
    assert [name for _, name, _ in events][-1] == "end"
    for each in (battle, waiting):
        assert texts(finished(reader, each, within=30)) == whole(LONG)


def test_postgresql_killed_mid_answer_asks_and_pays_nobody_twice(
    arena: Arena, reader: Reader, steady_provider: FakeProvider
):
    battle = begun(reader, steady_provider)
    arena.signal(POSTGRES)
    assert texts(finished(reader, battle, within=45)) == whole(LONG)
    assert steady_provider.calls["steady"] == 2


def test_a_stopped_arena_keeps_its_votes_and_hands_its_turns_over(
    arena: Arena, reader: Reader, steady_provider: FakeProvider
):
    voted = answered(reader)
    vote(reader, voted, "tie")
    battle = begun(reader, steady_provider)
    arena.launcher.send_signal(signal.SIGTERM)
    assert arena.launcher.wait(15) == 0
    arena.start()
    assert reader.battle(voted["id"])["vote"]["choice"] == "tie"
    assert texts(finished(reader, battle, within=30)) == whole(LONG)
