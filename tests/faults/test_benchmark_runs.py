"""Runs through kills of the worker: no item is lost, none is asked twice that was stored, and every cent is counted."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.conf import settings

from tests.fake_provider import FakeProvider
from tests.uploads import pictures
from tests.waiting import wait_for
from tests.worlds.arena import ANSWERS, Arena
from tests.worlds.benchmark_runs import check_books, start_run, stored

pytestmark = pytest.mark.faults


@contextmanager
def own_worker(arena: Arena) -> Iterator[subprocess.Popen[bytes]]:
    """Run a second worker, of runs alone."""
    program = [sys.executable, "-m", "celery", "-A", "arena_site", "worker", "-P", "threads", "-c", "2"]
    worker = subprocess.Popen(
        [*program, "-Q", "benchmarks", "-n", "benchmarks@%h"], cwd=settings.BASE_DIR,
        env=arena.environment | arena.services, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield worker
    finally:
        worker.terminate()
        worker.wait(120)


def test_killed_workers_ask_no_stored_item_again(arena: Arena, steady_provider: FakeProvider):
    run = start_run(arena, cases=60, concurrency=8)
    for number in (1, 2):
        wait_for(lambda number=number: stored(arena, run) >= 20 * number)
        killed = arena.signal(ANSWERS)
        wait_for(lambda killed=killed: arena.pid_of(ANSWERS) not in (None, killed))
    check_books(arena, run, 120, steady_provider)


def test_stopped_worker_uses_up_no_attempt(arena: Arena, steady_provider: FakeProvider):
    run = start_run(arena, cases=40, concurrency=8)
    wait_for(lambda: stored(arena, run) >= 10)
    arena.signal(ANSWERS, signal.SIGTERM)
    check_books(arena, run, 80, steady_provider)
    assert arena.query("SELECT max(attempt) FROM benchmarks_runitem WHERE run_id = %s", run) == [(1,)]


def test_workers_killed_while_they_read_pictures_ask_once(arena: Arena, steady_provider: FakeProvider):
    reading = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'uploads_extraction'"
    with own_worker(arena) as worker:
        run = start_run(arena, cases=40, concurrency=8, picture=pictures.picture())
        wait_for(lambda: stored(arena, run) >= 20)
        with psycopg.connect(arena.services["DATABASE_URL"]) as database:
            database.execute("LOCK TABLE uploads_extraction IN ACCESS EXCLUSIVE MODE")
            wait_for(lambda: arena.query(reading) != [(0,)])
            arena.signal(ANSWERS)
            worker.kill()
    check_books(arena, run, 80, steady_provider)
    assert all(isinstance(request["messages"][-1]["content"], list) for request in steady_provider.requests)
