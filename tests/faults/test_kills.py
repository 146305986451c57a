"""Whatever is killed while models answer: nothing is lost, nothing doubled, nothing stuck."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.faults.running import Arena, wait_for
from tests.site import Reader

pytestmark = pytest.mark.faults

WORDS = "".join(f"word{n} " for n in range(800))
MODELS = """
- {{id: left-one, name: Left one, model: long, base_url: "{0}", needs_key: false, status: active}}
- {{id: right-one, name: Right one, model: long, base_url: "{0}", needs_key: false, status: active}}
"""


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    directory = Path(tempfile.mkdtemp(prefix="arena-kill-", dir="/tmp"))
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    provider = FakeProvider().start()
    models = directory / "models.yaml"
    models.write_text(MODELS.format(provider.base_url))
    arena = Arena(directory / "data")
    arena.environment["ARENA_MODELS_FILE"] = str(models)
    try:
        arena.start()
        assert "Fewer than two models" not in arena.said
        yield arena
    finally:
        arena.stop()
        provider.stop()
        shutil.rmtree(directory)


@pytest.fixture
def reader(arena: Arena) -> Reader:
    wait_for(arena.is_ready, within=20)
    return Reader(arena.url)


def kill(arena: Arena, program: str) -> None:
    pid = arena.pid_of(program)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def finished(reader: Reader, battle: dict[str, Any], within: float) -> dict[str, Any]:
    """The battle once its turn is stored, however often the site is away meanwhile."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        response = reader.api("GET", f"battles/{battle['id']}/")
        if response.status_code == 200 and response.json()["stream_url"] is None:
            return response.json()
        time.sleep(0.5)
    pytest.fail(f"the battle was not finished within {within} s")


def texts(battle: dict[str, Any]) -> list[tuple[str, str]]:
    return [(answer["state"], answer["text"]) for answer in battle["turns"][0]["answers"]]


def test_a_worker_killed_mid_answer_is_replaced_and_the_text_is_whole(arena: Arena, reader: Reader):
    battle = reader.start_battle()
    events = reader.follow(battle["stream_url"])
    seen = [next(events)[1] for _ in range(12)]
    kill(arena, "-Q answers")
    seen += [name for _, name, _ in events]
    assert seen[-1] == "end"
    assert "reset" in seen
    assert texts(finished(reader, battle, within=2)) == [("done", WORDS), ("done", WORDS)]


def test_valkey_killed_mid_answer_costs_no_word_and_no_vote(arena: Arena, reader: Reader):
    earlier = reader.wait_until_answered(reader.start_battle())
    battle = reader.start_battle()
    time.sleep(1)
    kill(arena, "valkey-server")
    voted = reader.api("POST", f"battles/{earlier['id']}/vote/", {"choice": "left"})
    assert voted.status_code == 201
    assert texts(finished(reader, battle, within=30)) == [("done", WORDS), ("done", WORDS)]
    assert reader.battle(earlier["id"])["vote"]["choice"] == "left"


def test_postgresql_killed_mid_answer_ends_in_a_whole_text(arena: Arena, reader: Reader):
    battle = reader.start_battle()
    time.sleep(1)
    kill(arena, "postgres")
    assert texts(finished(reader, battle, within=45)) == [("done", WORDS), ("done", WORDS)]


def test_a_stopped_arena_keeps_its_votes_and_hands_its_turns_over(arena: Arena, reader: Reader):
    voted = reader.wait_until_answered(reader.start_battle())
    reader.api("POST", f"battles/{voted['id']}/vote/", {"choice": "tie"})
    battle = reader.start_battle()
    time.sleep(1)
    arena.launcher.send_signal(signal.SIGTERM)
    assert arena.launcher.wait(15) == 0
    arena.start()
    assert reader.battle(voted["id"])["vote"]["choice"] == "tie"
    assert texts(finished(reader, battle, within=30)) == [("done", WORDS), ("done", WORDS)]
