import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

from tests.fake_provider import FakeProvider
from tests.waiting import wait_for
from tests.worlds.arena import ANSWERS, POSTGRES, SWEEPER, VALKEY, WEB, Arena, arena_with
from tools.chaos.books import check
from tools.chaos.people import Person, Tally

PEOPLE = 12
KILLABLE = {"answer worker": ANSWERS, "web": WEB, "Valkey": VALKEY, "PostgreSQL": POSTGRES, "sweeper": SWEEPER}
# Each of these is also killed twice in a row, once in every run.
KILLED_TWICE = ["answer worker", "Valkey"]
# Everything must be at rest within this time after the last kill.
REST_TIMEOUT_S = 90


def play(seconds: float, seed: int) -> tuple[Tally, Counter[str]]:
    """Return the tally, whose complaints are the failures, and the kills by victim."""
    provider = FakeProvider().start()
    try:
        with arena_with(provider, ARENA_WEB_PROCESSES="2", ARENA_AGGREGATE_EVERY_S="5") as arena:
            tally, is_over = Tally(), threading.Event()
            people = [Person(number, arena.url, seed, tally, is_over) for number in range(PEOPLE)]
            for person in people:
                person.start()
            wait_for(lambda: all(person.is_known for person in people), within=60)
            kills = kill_at_random(arena, seconds, random.Random(seed), tally)
            is_over.set()
            wait_for_rest(arena, people, tally)
            check(arena, tally)
            return tally, kills
    finally:
        provider.stop()


def kill_at_random(arena: Arena, seconds: float, rng: random.Random, tally: Tally) -> Counter[str]:
    """Kill single parts all the time, and each of KILLED_TWICE again soon after its restart."""
    kills: Counter[str] = Counter()
    start = time.monotonic()
    twice_at = [start + seconds * (n + 1) / (len(KILLED_TWICE) + 1) for n in range(len(KILLED_TWICE))]
    twice = list(zip(twice_at, rng.sample(KILLED_TWICE, len(KILLED_TWICE)), strict=True))
    while (now := time.monotonic()) < start + seconds:
        if twice and now >= twice[0][0]:
            _, victim = twice.pop(0)
            kill_twice(arena, KILLABLE[victim], pause_s=rng.uniform(0, 4))
            kills[f"{victim} twice in a row"] += 1
            tally.last_kill = time.monotonic()
            continue
        time.sleep(min(rng.uniform(0.5, 4), start + seconds - now))
        victim = rng.choice(list(KILLABLE))
        if arena.pid_of(KILLABLE[victim]) is not None:  # it may still be down from the previous kill
            arena.signal(KILLABLE[victim])
            kills[victim] += 1
            tally.last_kill = time.monotonic()
    return kills


def kill_twice(arena: Arena, program: str, *, pause_s: float) -> None:
    """Kill the program, let it run for `pause_s` after its restart, and kill it again."""
    for pause in (0, pause_s):
        pid = _pid_when_running(arena, program)
        time.sleep(pause)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda pid=pid: arena.pid_of(program) != pid, within=REST_TIMEOUT_S)


def _pid_when_running(arena: Arena, program: str) -> int:
    deadline = time.monotonic() + REST_TIMEOUT_S
    while (pid := arena.pid_of(program)) is None:
        assert time.monotonic() < deadline, f"{program} is not started again"
        time.sleep(0.05)
    return pid


def wait_for_rest(arena: Arena, people: list[Person], tally: Tally) -> None:
    """Wait until the arena is ready, all people have their answers and no turn is open; complain about the rest."""
    deadline = time.monotonic() + REST_TIMEOUT_S
    wait_for(arena.is_ready, within=REST_TIMEOUT_S)
    for person in people:
        person.join(max(0, deadline - time.monotonic()))
        if person.is_alive():
            tally.complain(f"{person.name} is still waiting")
    [(stuck,)] = arena.query("SELECT count(*) FROM battles_turn WHERE state <> 'done'")
    if stuck:
        tally.complain(f"{stuck} turns are stuck")


def summary(seed: int, seconds: float, tally: Tally, kills: Counter[str]) -> str:
    def listed(counts: Counter[str]) -> str:
        return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"

    lines = [
        f"Chaos, seed {seed}, {seconds:.0f} s",
        f"  battles begun        {len(tally.prompts)}",
        f"  votes acknowledged   {len(tally.acknowledged)}",
        f"  events               {listed(tally.events)}",
        f"  kills                {sum(kills.values())}: {listed(kills)}",
        f"  longest wait         {tally.longest_wait_s:.1f} s, from the last kill on {tally.longest_recovery_s:.1f} s",
        *(f"  WRONG: {complaint}" for complaint in tally.complaints),
    ]
    return "\n".join([*lines, "  FAILED" if tally.complaints else "  Everything is in order."])
