"""A second beat, a second sweeper and messages delivered twenty times do no harm."""

import subprocess
import sys
import time

import pytest
from django.conf import settings

from tests.fake_provider import FakeProvider
from tests.faults.battling import HALTED, complete_texts, start_halted_battle, texts, wait_until_answered
from tests.site import Reader
from tests.worlds.arena import Arena

pytestmark = pytest.mark.faults

CELERY = [sys.executable, "-m", "celery", "-A", "arena_site"]


def test_doubled_processes_and_messages_call_models_once(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    commands = [
        [sys.executable, "manage.py", "sweep"],
        [*CELERY, "beat", "--pidfile=", "-s", str(arena.data_dir / "second-beat")],
    ]
    [(runs_before,)] = arena.query("SELECT count(*) FROM leaderboard_aggregationrun")
    began = time.monotonic()
    doubles = [
        subprocess.Popen(command, cwd=settings.BASE_DIR, env=arena.environment, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        battle = start_halted_battle(reader, steady_provider)
        [(turn_id,)] = arena.query(
            "SELECT turn.id FROM battles_turn AS turn JOIN battles_battle AS battle ON battle.id = turn.battle_id "
            "WHERE battle.public_id = %s",
            battle["id"],
        )
        arena.shell(f"from battles.tasks import wake\nfor _ in range(20): wake({turn_id})")
        steady_provider.go_on()
        assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)
        time.sleep(6)  # more than one slot of the schedule, and time for late messages
    finally:
        for double in doubles:
            double.terminate()
            double.wait(300)
    assert steady_provider.calls["steady"] == 2
    [(calls,)] = arena.query(
        "SELECT count(*) FROM battles_call AS call JOIN battles_answer AS answer ON answer.id = call.answer_id "
        "WHERE answer.turn_id = %s",
        turn_id,
    )
    assert calls == 2
    slots = (time.monotonic() - began) // 5 + 2  # one every five seconds, and a partial one at each end
    [(runs,)] = arena.query("SELECT count(*) FROM leaderboard_aggregationrun")
    assert runs - runs_before <= slots
