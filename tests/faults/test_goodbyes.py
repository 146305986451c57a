"""SIGTERM, as deployments send it: streams end, turns are requeued, votes are accepted."""

import signal
import threading
import time
from pathlib import Path

import httpx2
import pytest

from arena_site.supervisor.leftovers import Process, wait_for_end
from tests.fake_provider import FakeProvider
from tests.faults.battling import (
    HALTED,
    allowed_time,
    another_tab,
    answered_battle,
    complete_texts,
    start_halted_battle,
    texts,
    vote,
    wait_until_answered,
)
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import ANSWERS, SWEEPER, WEB, Arena

pytestmark = pytest.mark.faults


def web_processes(arena: Arena) -> list[Process]:
    return [process for command, process in arena.processes().items() if f"{WEB} " in command]


def listening_sockets(arena: Arena) -> int:
    """Count listening sockets, of which each web process has one."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(f":{arena.port:04X}") and row[3] == "0A" for row in rows)


def test_web_process_with_open_streams_ends_in_ten_seconds(arena: Arena, reader: Reader, steady_provider: FakeProvider):
    battle = start_halted_battle(reader, steady_provider)
    events = reader.follow(battle["stream_url"])
    next(events)
    leaving, allowed = web_processes(arena), allowed_time(10, reader)
    began = time.monotonic()
    for process in leaving:
        process.send(signal.SIGTERM)
    assert wait_for_end(leaving, within=240)
    took = time.monotonic() - began
    with pytest.raises(httpx2.TransportError):
        list(events)
    steady_provider.go_on()
    wait_for(arena.is_ready)
    assert took <= max(allowed, allowed_time(10, reader))  # the machine may have become busy meanwhile
    assert texts(wait_until_answered(reader, battle)) == complete_texts(HALTED)


def test_rolling_restart_refuses_no_vote(arena: Arena, reader: Reader):
    battles = [reader.start_battle() for _ in range(60)]
    battles = [wait_until_answered(reader, battle) for battle in battles]
    waiting, statuses, is_over = iter(battles), [], threading.Event()

    def keep_voting(tab: Reader) -> None:
        while not is_over.is_set() and (battle := next(waiting, None)):
            while True:
                time.sleep(0.2)
                try:
                    response = vote(tab, battle, **{"Idempotency-Key": battle["id"]})
                except httpx2.TransportError:
                    continue  # the connection was lost: repeat with the same key
                statuses.append(response.status_code)
                if response.status_code != 409:
                    break

    person = threading.Thread(target=keep_voting, args=[another_tab(reader)])
    person.start()
    for process in web_processes(arena):
        process.send(signal.SIGTERM)
        assert wait_for_end([process], within=120)
        wait_for(lambda: listening_sockets(arena) == 2)
    for program in (ANSWERS, SWEEPER):
        stopped = arena.signal(program, signal.SIGTERM)
        wait_for(lambda program=program, stopped=stopped: arena.has_restarted(program, stopped))
    wait_for(lambda: len(statuses) > 10)
    is_over.set()
    person.join(30)
    assert max(statuses) < 500
    assert texts(answered_battle(reader)) == complete_texts("one two three")
