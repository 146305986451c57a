"""What is measured, one function a row of the table in the promises."""

import asyncio
import json
import sys
import time

import aiohttp

from tests.provider_streams import SLOW_TO_RENDER
from tools.bench.arena import COUNTED, Bench
from tools.bench.load import Crowd, Played, percentile
from tools.bench.meter import cpu_seconds


def say(what: str, value: str, bar: str = "") -> None:
    print(f"  {what:<66}{value:>22}   {bar}", flush=True)


def streaming_cost(bench: Bench) -> None:
    number = bench.at_once
    print(f"CPU of streaming, {number} battles at once, 50 tokens/s a side")
    bench.speak(200, 50)
    bench.battles(10)
    short_played, short, _ = bench.battles(number, over_s=2)
    bench.speak(1000, 50)
    long_played, long, _ = bench.battles(number, over_s=2)
    say("failed", str(len(_failed(short_played + long_played))), "bar 0")
    thousands = number * 2 * 800 / 1000
    slopes = {part: (long[part] - short[part]) / thousands for part in long}
    total = sum(slopes[part] for part in COUNTED)
    for part in (*COUNTED, "postgres"):
        say(f"CPU s per 1,000 tokens, {part}", f"{slopes[part]:.4f}")
    say("CPU s per 1,000 tokens, web + answers + rendering + valkey", f"{total:.4f}", "bar 0.05")
    for part in (*COUNTED, "postgres"):
        say(f"CPU s of one battle of 2 × 200 tokens, {part}", f"{short[part] / number:.4f}")
    whole = sum(short[part] for part in COUNTED) / number
    say("CPU s of one battle of 2 × 200 tokens, web + answers + rendering + valkey", f"{whole:.4f}", "bar 0.045")
    base = _relay_cost(bench, number, thousands)
    say("CPU s per 1,000 tokens, bare relay (baseline)", f"{base:.4f}")
    say("ratio to the bare relay", f"{total / base:.2f}")
    say("bytes to a reader per battle of 2 × 200 tokens", f"{_median(short_played, 'bytes'):,.0f}", "bar 40,000")


def _relay_cost(bench: Bench, number: int, thousands: float) -> float:
    relay, costs = Crowd(f"http://127.0.0.1:{bench.relay_port}"), []
    for tokens in (200, 1000):
        before = cpu_seconds(bench.relay_pid)
        asyncio.run(relay.relayed(number, f"tokens-{tokens}-at-50"))
        costs.append(cpu_seconds(bench.relay_pid) - before)
    return (costs[1] - costs[0]) / thousands


def hundred_battles(bench: Bench) -> None:
    print("100 battles, 2 × 1,000 tokens at 50 tokens/s, started over 10 s")
    model = bench.speak(1000, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model, over_s=10))
    played, _, _ = bench.battles(100, over_s=10)
    _compare(direct, played, "bar 0.15 s")


def burst(bench: Bench) -> None:
    print("100 battles at one moment, 2 × 200 tokens at 50 tokens/s")
    model = bench.speak(200, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model))
    played, _, took = bench.battles(100)
    _compare(direct, played, "bar 2 s")
    say("battles finished per second", f"{len(played) / took:.1f}")


def _compare(direct: list[Played], played: list[Played], bar: str) -> None:
    say("failed", str(len(_failed(played))), "bar 0")
    good = [one for one in played if not one.error]
    for share in (0.5, 0.95):
        ours, theirs = (percentile([one.first_text for one in them], share) for them in (good, direct))
        say(f"first text p{share * 100:.0f}, later than direct", f"{ours - theirs:.3f} s", bar if share > 0.9 else "")
    ours, theirs = (max(one.end for one in them) for them in (good, direct))
    say("longest battle against longest direct call", f"{ours / theirs:.3f}", "bar 1.2")


def hostile_answers(bench: Bench) -> None:
    print("20 battles, 2 × 400 tokens at 50 tokens/s, beside answers that are slow to render")

    async def run(hostile: bool) -> tuple[list[Played], list[Played]]:
        bench.speak(400, 50)
        honest = asyncio.create_task(bench.crowd.battles(20))
        others = []
        for name in SLOW_TO_RENDER if hostile else ():
            await asyncio.sleep(0.5)
            await asyncio.to_thread(bench.speak_slowly, name)
            others.append(asyncio.create_task(bench.crowd.battles(2)))
        return await honest, [played for other in others for played in await other]

    for hostile in (False, True):
        played, others = asyncio.run(run(hostile))
        say("failed", str(len(_failed(played + others))), "bar 0")
        beside = f"beside {len(others)} hostile battles" if hostile else "alone"
        for share, name in ((0.5, "median"), (1.0, "worst")):
            longest = percentile([one.silence for one in played], share)
            say(f"longest silence of a stream, {beside}, {name}", f"{longest:.3f} s", "bar 0.5" if hostile else "")
        if others:
            say("longest hostile battle", f"{max(one.end for one in others):.2f} s")


def open_streams(bench: Bench) -> None:
    print("500 open streams (100 battles, five readers each) and 50 page requests a second")
    bench.speak(300, 10)

    async def run() -> tuple[list[float], int, int]:
        paths = ["/", "/leaderboard/", "/accounts/login/", "/api/v1/models/"]
        taken: list[float] = []
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
                taken.append(time.perf_counter() - began)

            requests = []
            for number in range(50 * 15):
                requests.append(asyncio.create_task(get(paths[number % len(paths)])))
                await asyncio.sleep(0.02)
            await asyncio.gather(*requests)
            played = await readers
        return taken, bad, len(_failed(played))

    taken, bad, failed = asyncio.run(run())
    say("page p50", f"{percentile(taken, 0.5) * 1000:.0f} ms")
    say("page p95", f"{percentile(taken, 0.95) * 1000:.0f} ms", "bar 300 ms")
    say("5xx", str(bad), "bar 0")
    say("streams cut", str(failed), "bar 0")


WARMING = 100
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
    print("100 votes a second on distinct battles for 30 s")
    made = bench.arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_BATTLES.format(number=WARMING + 3000))
    ids = json.loads(next(line for line in made.stdout.splitlines() if line.startswith("IDS"))[4:])

    async def run() -> tuple[list[float], int]:
        """Also one vote after the other before, so that what a process does once is done."""
        taken: list[float] = []
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
                taken.append(time.perf_counter() - began)

            for battle in ids[:WARMING]:
                await vote(battle)
            taken.clear()
            casting = []
            began = time.perf_counter()
            for number, battle in enumerate(ids[WARMING:]):
                await asyncio.sleep(max(0, began + number / 100 - time.perf_counter()))
                casting.append(asyncio.create_task(vote(battle)))
            await asyncio.gather(*casting)
        return taken, acknowledged

    taken, acknowledged = asyncio.run(run())
    stored = bench.arena.run(
        sys.executable,
        "manage.py",
        "shell",
        "-c",
        "from battles.models import Vote; print('STORED', Vote.objects.count())",
    ).stdout
    say("acknowledged / stored", f"{acknowledged} / {stored.split('STORED')[1].strip()}", "bar equal")
    say("vote p50", f"{percentile(taken, 0.5) * 1000:.0f} ms")
    say("vote p95", f"{percentile(taken, 0.95) * 1000:.0f} ms", "bar 250 ms")


def soak(bench: Bench) -> None:
    print(f"Soak: 20 battles at once for {bench.minutes} minutes")
    bench.speak(200, 50)
    began, at_two_minutes, played = time.monotonic(), {}, 0
    while time.monotonic() - began < bench.minutes * 60:
        played += len(bench.battles(20)[0])
        if not at_two_minutes and time.monotonic() - began > min(120, bench.minutes * 12):
            at_two_minutes = bench.meter.memory()
    at_end = bench.meter.memory()
    say("battles", str(played))
    for part, megabytes in at_end.items():
        say(f"{part}: PSS after two minutes, at the end", f"{at_two_minutes[part]:.0f} MB, {megabytes:.0f} MB")
    growth = sum(at_end.values()) / sum(at_two_minutes.values()) - 1
    say("growth of the whole stack", f"{growth:+.1%}", "bar +15 %")


def _failed(played: list[Played]) -> list[Played]:
    return [one for one in played if one.error or not one.end]


def _median(played: list[Played], name: str) -> float:
    return percentile([getattr(one, name) for one in played], 0.5)


def memory(bench: Bench, when: str) -> None:
    parts = bench.meter.memory()
    print(f"Memory {when}, PSS in MB")
    for part, megabytes in sorted(parts.items(), key=lambda item: -item[1]):
        say(part, f"{megabytes:.0f}")
    say("whole stack without the local model", f"{sum(parts.values()):.0f}", "bar 800 idle")
