"""`make bench`: start an arena and a fast provider, measure, print each figure beside its bar."""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
import django

django.setup()

from tests.bench.load import Crowd, Played, percentile  # noqa: E402
from tests.bench.meter import Meter, cpu_seconds  # noqa: E402
from tests.faults.running import Arena, free_port  # noqa: E402

MODELS = """
- {{id: bench-a, name: Bench A, model: {model}-a, base_url: "{provider}", needs_key: false, status: active}}
- {{id: bench-b, name: Bench B, model: {model}-b, base_url: "{provider}", needs_key: false, status: active}}
"""
COUNTED = ("web", "answers", "valkey")


@contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", *arguments])
    try:
        time.sleep(1)
        yield process
    finally:
        process.terminate()
        process.wait(5)


class Bench:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.provider = f"http://127.0.0.1:{free_port()}/v1"
        self.relay_port = free_port()
        self.models = directory / "models.yaml"
        self.arena = Arena(directory / "data")
        self.arena.environment |= {
            "ARENA_MODELS_FILE": str(self.models),
            **{
                f"ARENA_LIMIT_{action}_{who}": "off"
                for action in ("BATTLE", "TURN", "VOTE")
                for who in ("VISITOR", "MEMBER")
            },
        }

    def speak(self, tokens: int, rate: int) -> str:
        """Both models say so many tokens at that rate from now on."""
        model = f"tokens-{tokens}-at-{rate}"
        self.models.write_text(MODELS.format(provider=self.provider, model=model))
        if hasattr(self.arena, "launcher"):
            imported = self.arena.run(sys.executable, "manage.py", "import_models", str(self.models))
            assert imported.returncode == 0, imported.stderr
        return model

    def start(self) -> None:
        self.speak(200, 50)
        self.arena.start()
        self.arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_USER)
        command = [
            "manage.py",
            "create_api_token",
            "bench@example.org",
            "--name",
            "bench",
            "--scopes",
            "read,battle,vote",
        ]
        token = next(
            word for word in self.arena.run(sys.executable, *command).stdout.split() if word.startswith("arena_")
        )
        self.crowd = Crowd(self.arena.url, token)
        self.meter = Meter(self.arena)

    def battles(self, number: int, *, over_s: float = 0.0) -> tuple[list[Played], dict[str, float], float]:
        """(battles, CPU seconds by part, wall seconds)."""
        before, began = self.meter.cpu(), time.perf_counter()
        played = asyncio.run(self.crowd.battles(number, over_s=over_s))
        took = time.perf_counter() - began
        time.sleep(0.3)
        after = self.meter.cpu()
        return played, {part: after[part] - before[part] for part in after}, took


MAKE_USER = "from accounts.models import User; User.objects.create_user('bench@example.org')"


def say(what: str, value: str, bar: str = "") -> None:
    print(f"  {what:<66}{value:>22}   {bar}", flush=True)


def streaming_cost(bench: Bench, relay_pid: int, number: int) -> None:
    print(f"CPU of streaming, {number} battles at once, 50 tokens/s a side")
    bench.speak(200, 50)
    bench.battles(10)
    short_played, short, _ = bench.battles(number, over_s=2)
    bench.speak(1000, 50)
    _, long, _ = bench.battles(number, over_s=2)
    thousands = number * 2 * 800 / 1000
    slopes = {part: (long[part] - short[part]) / thousands for part in long}
    total = sum(slopes[part] for part in COUNTED)
    for part in (*COUNTED, "postgres"):
        say(f"CPU s per 1,000 tokens, {part}", f"{slopes[part]:.4f}")
    say("CPU s per 1,000 tokens, web + answers + valkey", f"{total:.4f}", "bar 0.05")
    whole = sum(short[part] for part in COUNTED) / number
    for part in (*COUNTED, "postgres"):
        say(f"CPU s of one battle of 2 × 200 tokens, {part}", f"{short[part] / number:.4f}")
    say("CPU s of one battle of 2 × 200 tokens, web + answers + valkey", f"{whole:.4f}", "bar 0.045")
    relay = Crowd(f"http://127.0.0.1:{bench.relay_port}")
    costs = []
    for tokens in (200, 1000):
        before = cpu_seconds(relay_pid)
        asyncio.run(relay.relayed(number, f"tokens-{tokens}-at-50"))
        costs.append(cpu_seconds(relay_pid) - before)
    base = (costs[1] - costs[0]) / thousands
    say("CPU s per 1,000 tokens, bare relay (baseline)", f"{base:.4f}")
    say("ratio to the bare relay", f"{total / base:.2f}")
    say("bytes to a reader per battle of 2 × 200 tokens", f"{_median(short_played, 'bytes'):,.0f}", "bar 40,000")


def hundred_battles(bench: Bench) -> None:
    print("100 battles, 2 × 1,000 tokens at 50 tokens/s, started over 10 s")
    model = bench.speak(1000, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model, over_s=10))
    played, _, _ = bench.battles(100, over_s=10)
    _report(direct, played, "bar 0.15 s")


def burst(bench: Bench) -> None:
    print("100 battles at one moment, 2 × 200 tokens at 50 tokens/s")
    model = bench.speak(200, 50)
    direct = asyncio.run(bench.crowd.direct(bench.provider, 100, model))
    played, _, took = bench.battles(100)
    _report(direct, played, "bar 2 s")
    say("battles finished per second", f"{len(played) / took:.1f}")


def _report(direct: list[Played], played: list[Played], bar: str) -> None:
    failed = [one for one in played if one.error or not one.end]
    say("failed", str(len(failed)), "bar 0")
    good = [one for one in played if not one.error]
    for share in (0.5, 0.95):
        ours, theirs = (percentile([one.first_text for one in them], share) for them in (good, direct))
        say(f"first text p{share * 100:.0f}, later than direct", f"{ours - theirs:.3f} s", bar if share > 0.9 else "")
    ours, theirs = (max(one.end for one in them) for them in (good, direct))
    say("longest battle against longest direct call", f"{ours / theirs:.3f}", "bar 1.2")


def _median(played: list[Played], name: str) -> float:
    return percentile([getattr(one, name) for one in played], 0.5)


def memory(bench: Bench, when: str) -> None:
    parts = bench.meter.memory()
    print(f"Memory {when}, PSS in MB")
    for part, megabytes in sorted(parts.items(), key=lambda item: -item[1]):
        say(part, f"{megabytes:.0f}")
    say("whole stack without the local model", f"{sum(parts.values()):.0f}", "bar 800 idle")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--battles", type=int, default=40, help="at once, for the CPU figures")
    parser.add_argument("--only", choices=["cpu", "hundred", "burst"])
    given = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="arena-bench-", dir="/tmp"))
    directory.chmod(0o711)  # PostgreSQL of a root user runs as nobody
    bench = Bench(directory)
    provider_port = bench.provider.split(":")[2].split("/")[0]
    try:
        with (
            program("tests.bench.provider", provider_port),
            program("tests.bench.relay", str(bench.relay_port), bench.provider) as relay,
        ):
            bench.start()
            memory(bench, "idle")
            if given.only in (None, "cpu"):
                streaming_cost(bench, relay.pid, given.battles)
            if given.only in (None, "hundred"):
                hundred_battles(bench)
            if given.only in (None, "burst"):
                burst(bench)
            memory(bench, "afterwards")
    finally:
        bench.arena.stop()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
