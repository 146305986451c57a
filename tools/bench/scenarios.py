"""Scenarios of `make bench`, a function each."""

import asyncio
import json
import sys
import time

import aiohttp

from tests.provider_streams import SLOW_TO_RENDER
from tools.bench.arena import MEASURED_PARTS, Bench
from tools.bench.load import BattleTiming, Crowd, percentile
from tools.bench.meter import cpu_seconds, not_negative, spent


def print_row(label: str, value: str, bar: str = "") -> None:
    print(f"  {label:<66}{value:>22}   {bar}", flush=True)


def streaming_cost(bench: Bench) -> None:
    number = bench.at_once
    print(f"CPU of streaming, {number} battles at once, 50 tokens/s a side")
    bench.use_token_model(200, 50)
    bench.battles(10)
    short_timings, short, _ = bench.battles(number, over_s=2)
    bench.use_token_model(1000, 50)
    long_timings, long, _ = bench.battles(number, over_s=2)
    print_row("failed", str(len(_failed(short_timings + long_timings))), "bar 0")
    thousands = number * 2 * 800 / 1000
    slopes = not_negative({part: (long[part] - short[part]) / thousands for part in (*MEASURED_PARTS, "postgres")})
    total = sum(slopes[part] for part in MEASURED_PARTS)
    for part in (*MEASURED_PARTS, "postgres"):
        print_row(f"CPU s per 1,000 tokens, {part}", f"{slopes[part]:.4f}")
    print_row("CPU s per 1,000 tokens, web + answers + rendering + valkey", f"{total:.4f}", "bar 0.05")
    for part in (*MEASURED_PARTS, "postgres"):
        print_row(f"CPU s of one battle of 2 × 200 tokens, {part}", f"{short[part] / number:.4f}")
    whole = sum(short[part] for part in MEASURED_PARTS) / number
    print_row("CPU s of one battle of 2 × 200 tokens, web + answers + rendering + valkey", f"{whole:.4f}", "bar 0.045")
    relayed, base = _relay_cost(bench, number, thousands)
    print_row("CPU s per 1,000 tokens, bare relay (baseline)", f"{base:.4f}")
    print_row("ratio to the bare relay", f"{total / base:.2f}", "bar 1.2")
    print_row("CPU s of one battle of 2 × 200 tokens, bare relay (baseline)", f"{relayed:.4f}")
    print_row("ratio of one battle to the bare relay", f"{whole / relayed:.2f}", "bar 2.2")
    print_row("bytes to a reader per battle of 2 × 200 tokens", f"{_median(short_timings, 'bytes'):,.0f}", "bar 10,000")


def _relay_cost(bench: Bench, number: int, thousands: float) -> tuple[float, float]:
    """Return CPU seconds of one battle of 2 × 200 tokens, and of 1,000 further tokens."""
    relay, costs = Crowd(f"http://127.0.0.1:{bench.relay_port}"), []
    for tokens in (200, 1000):
        before = cpu_seconds(bench.relay_pid)
        asyncio.run(relay.relayed(number, f"tokens-{tokens}-at-50", over_s=2))
        costs.append(cpu_seconds(bench.relay_pid) - before)
    slope = not_negative({"relay": (costs[1] - costs[0]) / thousands})["relay"]
    return costs[0] / number, slope


def hundred_battles(bench: Bench) -> None:
    print("100 battles, 2 × 1,000 tokens at 50 tokens/s, started over 10 s")
    model = bench.use_token_model(1000, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model, over_s=10))
    timings, _, _ = bench.battles(100, over_s=10)
    _compare(direct, timings, "bar 0.15 s")


def burst(bench: Bench) -> None:
    print("100 battles at one moment, 2 × 200 tokens at 50 tokens/s")
    model = bench.use_token_model(200, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model))
    timings, _, took = bench.battles(100)
    _compare(direct, timings, "bar 1 s")
    print_row("battles finished per second", f"{len(timings) / took:.1f}")


def _compare(direct: list[BattleTiming], timings: list[BattleTiming], bar: str) -> None:
    print_row("failed", str(len(_failed(timings))), "bar 0")
    successful = [timing for timing in timings if not timing.error]
    for share in (0.5, 0.95):
        ours, theirs = (percentile([timing.first_text for timing in group], share) for group in (successful, direct))
        print_row(
            f"first text p{share * 100:.0f}, later than direct", f"{ours - theirs:.3f} s", bar if share > 0.9 else ""
        )
    ours, theirs = (max(timing.end for timing in group) for group in (successful, direct))
    print_row("longest battle against longest direct call", f"{ours / theirs:.3f}", "bar 1.2")


def hostile_answers(bench: Bench) -> None:
    print("20 battles, 2 × 400 tokens at 50 tokens/s, beside answers that are slow to render")

    async def run(hostile: bool) -> tuple[list[BattleTiming], list[BattleTiming]]:
        bench.use_token_model(400, 50)
        honest = asyncio.create_task(bench.crowd.battles(20))
        others = []
        for name in SLOW_TO_RENDER if hostile else ():
            await asyncio.sleep(0.5)
            await asyncio.to_thread(bench.use_hostile_model, name)
            others.append(asyncio.create_task(bench.crowd.battles(2)))
        return await honest, [timing for other in others for timing in await other]

    for hostile in (False, True):
        timings, others = asyncio.run(run(hostile))
        print_row("failed", str(len(_failed(timings + others))), "bar 0")
        load = f"beside {len(others)} hostile battles" if hostile else "alone"
        for share, name in ((0.5, "median"), (1.0, "worst")):
            longest = percentile([timing.silence for timing in timings], share)
            print_row(f"longest silence of a stream, {load}, {name}", f"{longest:.3f} s", "bar 0.5" if hostile else "")
        if others:
            print_row("longest hostile battle", f"{max(timing.end for timing in others):.2f} s")


def open_streams(bench: Bench) -> None:
    print("500 open streams (100 battles, five readers each) and 50 page requests a second")
    bench.use_token_model(300, 10)

    async def run() -> tuple[list[float], int, int]:
        paths = ["/", "/leaderboard/", "/accounts/login/", "/api/v1/models/"]
        seconds: list[float] = []
        bad = 0
        async with bench.crowd.client() as client:
            readers = asyncio.create_task(bench.crowd.battles(100, over_s=5, readers=5))
            await asyncio.sleep(8)

            async def get(path: str) -> None:
                nonlocal bad
                began = time.perf_counter()
                async with client.get(path) as response:
                    await response.read()
                    bad += response.status >= 500
                seconds.append(time.perf_counter() - began)

            requests = []
            for number in range(50 * 15):
                requests.append(asyncio.create_task(get(paths[number % len(paths)])))
                await asyncio.sleep(0.02)
            await asyncio.gather(*requests)
            timings = await readers
        return seconds, bad, len(_failed(timings))

    seconds, bad, failed = asyncio.run(run())
    print_row("page p50", f"{percentile(seconds, 0.5) * 1000:.0f} ms")
    print_row("page p95", f"{percentile(seconds, 0.95) * 1000:.0f} ms", "bar 200 ms")
    print_row("5xx", str(bad), "bar 0")
    print_row("streams cut", str(failed), "bar 0")


WARM_UP_VOTES = 100
MAKE_BATTLES = """
from battles.models import *
from accounts.models import User
from models_registry.models import LanguageModel
import json
owner = User.objects.get(email="bench@example.org")
left, right = LanguageModel.objects.order_by("pk")[:2]
sessions = Session.objects.bulk_create([Session(owner_user=owner, title="bench") for _ in range({number})])
filed = {{"language": "en", "labelled_by": "bench"}}
battles = Battle.objects.bulk_create([Battle(session=session, propensity=1, **filed) for session in sessions])
sides = Side.objects.bulk_create(
    [Side(battle=battle, position=p, model=m) for battle in battles for p, m in (("left", left), ("right", right))]
)
turns = {{turn.battle_id: turn for turn in Turn.objects.bulk_create(
    [Turn(battle=battle, index=0, prompt="x", state="done") for battle in battles]
)}}
Answer.objects.bulk_create(
    [Answer(turn=turns[side.battle_id], side=side, state="done", text="an answer") for side in sides]
)
print("IDS", json.dumps([battle.public_id for battle in battles]))
"""


def votes(bench: Bench) -> None:
    for growing in (0, 100):
        _votes(bench, growing)


def _votes(bench: Bench, growing: int) -> None:
    load = f", beside {growing} battles of 2 × 1,000 tokens" if growing else ""
    print(f"100 votes a second on distinct battles for 30 s{load}")
    bench.use_token_model(1000, 50)
    made = bench.arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_BATTLES.format(number=WARM_UP_VOTES + 3000))
    ids = json.loads(next(line for line in made.stdout.splitlines() if line.startswith("IDS"))[4:])
    stored_before = _stored_votes(bench)

    async def run() -> tuple[list[float], int]:
        """Return (seconds of each vote, acknowledged votes) after sequential votes that warm up the processes."""
        seconds: list[float] = []
        acknowledged = 0
        async with bench.crowd.client() as client:

            async def vote(battle: str) -> None:
                nonlocal acknowledged
                began = time.perf_counter()
                try:
                    async with client.post(f"/api/v1/battles/{battle}/vote/", json={"choice": "left"}) as response:
                        await response.read()
                        acknowledged += response.status == 201
                except (aiohttp.ClientError, TimeoutError):
                    return
                seconds.append(time.perf_counter() - began)

            for battle in ids[:WARM_UP_VOTES]:
                await vote(battle)
            seconds.clear()
            battles = asyncio.create_task(bench.crowd.battles(growing, over_s=10))
            casting = []
            began = time.perf_counter()
            for number, battle in enumerate(ids[WARM_UP_VOTES:]):
                await asyncio.sleep(max(0, began + number / 100 - time.perf_counter()))
                casting.append(asyncio.create_task(vote(battle)))
            await asyncio.gather(*casting)
            await battles
        return seconds, acknowledged

    seconds, acknowledged = asyncio.run(run())
    stored = _stored_votes(bench) - stored_before
    print_row("sent / acknowledged / stored", f"{len(ids)} / {acknowledged} / {stored}", "bar equal")
    print_row("vote p50", f"{percentile(seconds, 0.5) * 1000:.0f} ms")
    print_row("vote p95", f"{percentile(seconds, 0.95) * 1000:.0f} ms", "bar 100 ms")


def _stored_votes(bench: Bench) -> int:
    code = "from battles.models import Vote; print('STORED', Vote.objects.count())"
    return int(bench.arena.run(sys.executable, "manage.py", "shell", "-c", code).stdout.split("STORED")[1])


def soak(bench: Bench) -> None:
    print(f"Soak: 20 battles at once for {bench.minutes} minutes")
    bench.use_token_model(200, 50)
    began, at_two_minutes, battles = time.monotonic(), {}, 0
    while time.monotonic() - began < bench.minutes * 60:
        battles += len(bench.battles(20)[0])
        if not at_two_minutes and time.monotonic() - began > min(120, bench.minutes * 12):
            at_two_minutes = bench.meter.memory()
    at_end = bench.meter.memory()
    print_row("battles", str(battles))
    for part, megabytes in at_end.items():
        print_row(f"{part}: PSS after two minutes, at the end", f"{at_two_minutes[part]:.0f} MB, {megabytes:.0f} MB")
    growth = sum(at_end.values()) / sum(at_two_minutes.values()) - 1
    print_row("growth of the whole stack", f"{growth:+.1%}", "bar +15 %")


def _failed(timings: list[BattleTiming]) -> list[BattleTiming]:
    return [timing for timing in timings if timing.error or not timing.end]


def _median(timings: list[BattleTiming], name: str) -> float:
    return percentile([getattr(timing, name) for timing in timings], 0.5)


def rest(bench: Bench) -> None:
    print(f"Processor time of an arena that rests for {bench.minutes:g} minutes, % of a core")
    time.sleep(60)  # the start's last work
    before, began = bench.meter.cpu(), time.perf_counter()
    time.sleep(60 * bench.minutes)
    seconds = time.perf_counter() - began
    percent = {part: 100 * cpu / seconds for part, cpu in spent(before, bench.meter.cpu()).items()}
    for part, share in sorted(percent.items(), key=lambda item: -item[1]):
        print_row(part, f"{share:.2f}")
    print_row("whole stack", f"{sum(percent.values()):.2f}", "bar 1")
    memory(bench, "at rest")


def memory(bench: Bench, when: str) -> None:
    parts = bench.meter.memory()
    print(f"Memory {when}, PSS in MB")
    for part, megabytes in sorted(parts.items(), key=lambda item: -item[1]):
        print_row(part, f"{megabytes:.0f}")
    print_row("whole stack without the local model", f"{sum(parts.values()):.0f}", "bar 600 idle")
