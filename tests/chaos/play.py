"""Starts an arena, lets people in, kills its parts at random, waits for rest, checks the books."""

import random
import threading
import time
from collections import Counter

from tests.chaos.books import check
from tests.chaos.people import Person, Tally
from tests.fake_provider import FakeProvider
from tests.faults.running import ANSWERS, POSTGRES, SWEEPER, VALKEY, WEB, Arena, arena_with
from tests.waiting import wait_for

PEOPLE = 12
KILLABLE = {"answer worker": ANSWERS, "web": WEB, "Valkey": VALKEY, "PostgreSQL": POSTGRES, "sweeper": SWEEPER}
# After the last kill everything must be at rest within this time.
REST_WITHIN_S = 90


def play(seconds: float, seed: int) -> tuple[Tally, Counter[str]]:
    """The tally and how often what was killed. The complaints in it are what went wrong."""
    provider = FakeProvider().start()
    try:
        with arena_with(provider, ARENA_WEB_PROCESSES="2", ARENA_AGGREGATE_EVERY_S="5") as arena:
            tally, is_over = Tally(), threading.Event()
            people = [Person(number, arena.url, seed, tally, is_over) for number in range(PEOPLE)]
            for person in people:
                person.start()
            kills = kill_at_random(arena, seconds, random.Random(seed))
            is_over.set()
            rest(arena, people, tally)
            check(arena, tally)
            return tally, kills
    finally:
        provider.stop()


def kill_at_random(arena: Arena, seconds: float, rng: random.Random) -> Counter[str]:
    kills: Counter[str] = Counter()
    ends = time.monotonic() + seconds
    while (now := time.monotonic()) < ends:
        time.sleep(min(rng.uniform(0.5, 4), ends - now))
        victim = rng.choice(list(KILLABLE))
        if arena.pid_of(KILLABLE[victim]) is not None:  # it may be down from the last time
            arena.signal(KILLABLE[victim])
            kills[victim] += 1
    return kills


def rest(arena: Arena, people: list[Person], tally: Tally) -> None:
    """Until everything is up, everybody has had their answer, and nothing is in work."""
    deadline = time.monotonic() + REST_WITHIN_S
    wait_for(arena.is_ready, within=REST_WITHIN_S)
    for person in people:
        person.join(max(0, deadline - time.monotonic()))
        if person.is_alive():
            tally.complain(f"{person.name} still waits")
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
        f"  on the way           {listed(tally.events)}",
        f"  kills                {sum(kills.values())}: {listed(kills)}",
        f"  longest wait         {tally.longest_wait_s:.1f} s",
        *(f"  WRONG: {complaint}" for complaint in tally.complaints),
    ]
    return "\n".join([*lines, "  Everything is in order." if not tally.complaints else "  It is not in order."])
