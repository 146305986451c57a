"""Processes of one kind added one at a time, and the cost of a battle and of a vote in each."""

import asyncio
import json
import sys
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import psycopg

from tools.bench.arena import Bench
from tools.bench.capacity import growth, services
from tools.bench.capacity.fastchat import fastchat
from tools.bench.capacity.numbering import numbering
from tools.bench.load import BattleTiming, Crowd, percentile
from tools.bench.meter import busy_seconds, cpu_seconds, spent
from tools.bench.scenarios import MAKE_BATTLES, print_row

TOKENS, RATE = 200, 50
WARM_S, MEASURED_S = 6.0, 12.0
KINDS = ("web", "answers", "rendering", "default", "sweeper", "postgres", "valkey")
# Web processes, answer workers, battles at once.
STEPS = ((1, 1, 20), (1, 1, 100), (1, 1, 200), (1, 1, 300), (2, 1, 300), (1, 2, 300), (2, 2, 300), (2, 2, 400))
VOTES, VOTES_AT_ONCE = 1_000, 16


@dataclass
class Load:
    """Figures per second, and CPU seconds per battle by kind."""

    battles: float
    cpu: dict[str, float]
    cores: float
    cores_of_bench: float
    cores_of_others: float
    first_text_p95: float
    failed: int
    commits: float
    wal_bytes: float
    commands: float


def capacity(bench: Bench) -> None:
    print(f"Battles of 2 × {TOKENS} tokens at {RATE} tokens/s, as many as the processes take")
    bench.use_token_model(TOKENS, RATE)
    bench.battles(10)
    loads = []
    for web, answers, at_once in STEPS:
        with ExitStack() as stack:
            for _ in range(web - 1):
                stack.enter_context(_more_web(bench))
            for number in range(answers - 1):
                stack.enter_context(_more_answers(bench, number))
            time.sleep(6 if web + answers > 2 else 0)
            load = _measure(bench, at_once)
        loads.append(load)
        _print(f"{web} web, {answers} answers, {at_once} at once", load)
    eased = loads[1]  # under more load, entries are fewer and larger
    print_row("a finished battle's stream in Valkey", f"{services.stream_bytes(bench):,.0f} bytes")
    services.print_valkey_ceiling(bench)
    _relay(bench)
    services.sweeper(bench)
    votes = _votes(bench)
    at_commit = numbering(bench)
    fastchat(bench)
    costs = growth.Costs(
        web=eased.cpu["web"], answers=eased.cpu["answers"], rendering=eased.cpu["rendering"],
        postgres=eased.cpu["postgres"], valkey=eased.cpu["valkey"], vote_web=votes["web"],
        vote_postgres=votes["postgres"], seconds=TOKENS / RATE + 0.5, votes_at_commit=at_commit,
    )  # fmt: skip
    print(f"Calculated from {costs}")
    print(growth.table(costs))
    for rate, what in growth.first_limits(costs):
        print_row(f"full at: {what}", f"{rate:,.0f} battles/s")


def _more_web(bench: Bench) -> AbstractContextManager[None]:
    return bench.arena.program_beside(
        "-m", "arena_site.embedded.web", "--bind", "127.0.0.1", "--port", str(bench.arena.port)
    )


def _more_answers(bench: Bench, number: int) -> AbstractContextManager[None]:
    options = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-c", "100"]
    names = ["-Q", "answers,benchmarks", "-n", f"answers{number + 2}@%h"]
    return bench.arena.program_beside("-m", "celery", "-A", "arena_site", "worker", "-P", "threads", *options, *names)


def _measure(bench: Bench, at_once: int) -> Load:
    return asyncio.run(_sustain(bench, at_once))


async def _sustain(bench: Bench, at_once: int) -> Load:
    """Keep `at_once` battles under way; measure for MEASURED_S once all have begun."""
    ended = asyncio.Event()
    running = asyncio.create_task(bench.crowd.sustained(at_once, over_s=TOKENS / RATE, ended=ended))
    await asyncio.sleep(WARM_S)
    looks = [await asyncio.to_thread(_look, bench)]
    await asyncio.sleep(MEASURED_S)
    looks.append(await asyncio.to_thread(_look, bench))
    ended.set()
    timings = [one for one in await running if looks[0].at < one.ended_at <= looks[1].at]
    return _load(looks[0], looks[1], timings)


@dataclass
class Look:
    at: float
    cpu: dict[str, float]
    of_bench: float
    of_machine: float
    commits: int
    wal: int
    commands: int


def _look(bench: Bench) -> Look:
    with psycopg.connect(bench.arena.services["DATABASE_URL"]) as connection:
        commits, wal = connection.execute(
            "SELECT sum(xact_commit)::bigint, (pg_current_wal_lsn() - '0/0')::bigint FROM pg_stat_database"
        ).fetchone()
    of_bench = time.process_time() + cpu_seconds(bench.provider_pid)
    return Look(
        time.perf_counter(), bench.meter.cpu(), of_bench, busy_seconds(), commits, wal, services.commands(bench)
    )  # fmt: skip


def _load(first: Look, last: Look, timings: list[BattleTiming]) -> Load:
    seconds, battles = last.at - first.at, len(timings)
    cpu = spent(first.cpu, last.cpu)
    of_arena, of_bench = sum(cpu.values()), last.of_bench - first.of_bench
    of_others = last.of_machine - first.of_machine - of_arena - of_bench
    return Load(
        battles / seconds, {kind: cpu[kind] / battles for kind in KINDS}, of_arena / seconds, of_bench / seconds,
        of_others / seconds, percentile([one.first_text for one in timings], 0.95),
        sum(bool(one.error) for one in timings), (last.commits - first.commits) / battles,
        (last.wal - first.wal) / battles, (last.commands - first.commands) / battles,
    )  # fmt: skip


def _print(name: str, load: Load) -> None:
    p95 = f"first text p95 {load.first_text_p95:.2f} s, {load.failed} failed"
    print_row(name, f"{load.battles:.1f} battles/s", p95)
    kinds = ", ".join(f"{kind} {1000 * load.cpu[kind]:.1f}" for kind in KINDS)
    print(f"    CPU ms per battle: {kinds}")
    print(
        f"    cores: arena {load.cores:.2f}, provider and readers {load.cores_of_bench:.2f}, "
        f"others {load.cores_of_others:.2f}; per battle: "
        f"{load.commits:.1f} commits, {load.wal_bytes:,.0f} bytes of WAL, {load.commands:.0f} Valkey commands",
        flush=True,
    )


def _relay(bench: Bench) -> None:
    relay, before = Crowd(f"http://127.0.0.1:{bench.relay_port}"), cpu_seconds(bench.relay_pid)
    asyncio.run(relay.relayed(60, f"tokens-{TOKENS}-at-{RATE}", over_s=TOKENS / RATE))
    cpu = (cpu_seconds(bench.relay_pid) - before) / 60
    print_row("the same battle by the bare relay, which stores nothing", f"{1000 * cpu:.1f} CPU ms")


def _votes(bench: Bench) -> dict[str, float]:
    """Print the cost of votes by the API; return CPU seconds of a vote by kind."""
    made = bench.arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_BATTLES.format(number=VOTES + 100))
    ids = json.loads(next(line for line in made.stdout.splitlines() if line.startswith("IDS"))[4:])
    asyncio.run(_cast(bench, ids[:100]))
    before, began = bench.meter.cpu(), time.perf_counter()
    asyncio.run(_cast(bench, ids[100:]))
    seconds = time.perf_counter() - began
    cpu = {kind: value / VOTES for kind, value in spent(before, bench.meter.cpu()).items()}
    kinds = ", ".join(f"{kind} {1000 * cpu[kind]:.2f}" for kind in KINDS)
    print_row(f"{VOTES:,} votes by the API, {VOTES_AT_ONCE} at once, 1 web process", f"{VOTES / seconds:.0f} votes/s")
    print(f"    CPU ms per vote: {kinds}", flush=True)
    return cpu


async def _cast(bench: Bench, battles: list[str]) -> None:
    turns = asyncio.Semaphore(VOTES_AT_ONCE)
    async with bench.crowd.client() as client:

        async def one(battle: str) -> None:
            async with turns, client.post(f"/api/v1/battles/{battle}/vote/", json={"choice": "left"}) as response:
                assert response.status == 201, await response.text()

        await asyncio.gather(*(one(battle) for battle in battles))
