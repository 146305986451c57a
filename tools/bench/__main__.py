"""`make bench`: start an arena and a fast provider, and measure."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from tools.bench import (  # noqa: E402
    benchmark_runs,
    boards,
    checks,
    gateway,
    imports,
    large_run,
    pages,
    peers,
    promptfoo_scores,
    reviews,
    route,
    scenarios,
    teams,
)
from tools.bench.arena import Bench  # noqa: E402
from tools.bench.capacity.fastchat import fastchat  # noqa: E402
from tools.bench.capacity.numbering import numbering  # noqa: E402
from tools.bench.capacity.scenario import capacity  # noqa: E402
from tools.bench.monitoring import figures, traces  # noqa: E402

# The order matters: models that have votes cannot be changed, so scenarios that change models come before `votes`.
SCENARIOS = {
    "cpu": scenarios.streaming_cost,
    "hundred": scenarios.hundred_battles,
    "burst": scenarios.burst,
    "hostile": scenarios.hostile_answers,
    "streams": scenarios.open_streams,
    "gateway": gateway.gateway,
    "benchmarks": benchmark_runs.benchmark_runs,
    "large-run": large_run.large_run,
    "reviews": reviews.reviews,
    "people-first": benchmark_runs.people_first,
    "route": route.route,
    "traces": traces.traces,
    "soak": scenarios.soak,
    "rest": scenarios.rest,
    "votes": scenarios.votes,
    "aggregation": boards.aggregation,
    "board": boards.board,
    "pages": pages.pages,
    "teams": teams.teams,
    "figures": figures.figures,
    "checks": checks.checks,
    "imports": imports.imports,
    "peers": peers.peers,
    "promptfoo-scores": promptfoo_scores.promptfoo_scores,
    "capacity": capacity,
    "fastchat": fastchat,
    "numbering": numbering,
}
NAMED_ONLY = {
    "figures",
    "rest",
    "soak",
    "traces",
    "route",
    "aggregation",
    "peers",
    "promptfoo-scores",
    "capacity",
    "fastchat",
    "numbering",
}
DEFAULT_SCENARIOS = [name for name in SCENARIOS if name not in NAMED_ONLY]


@contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", *arguments])
    try:
        time.sleep(1)
        yield process
    finally:
        process.terminate()
        process.wait(5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=DEFAULT_SCENARIOS)
    parser.add_argument("--battles", type=int, default=40, help="at once, for the CPU figures")
    parser.add_argument("--minutes", type=float, default=10, help="of rest and soak")
    parser.add_argument("--items", type=int, default=10_000, help="of a benchmark run")
    parser.add_argument("--votes", type=int, default=1_000_000, help="behind the board")
    parser.add_argument("--days", type=float, default=30, help="over which these votes are spread")
    args = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="arena-bench-", dir="/tmp"))
    directory.chmod(0o711)  # started by root, PostgreSQL runs as an unprivileged user that must reach its files
    bench = Bench(
        directory, at_once=args.battles, minutes=args.minutes, votes=args.votes, days=args.days, items=args.items
    )
    if "capacity" in args.only:
        # It adds processes itself; and a worker has more to do than the default lets it.
        bench.arena.environment |= {"ARENA_WEB_PROCESSES": "1", "ARENA_ANSWER_CONCURRENCY": "400"}
    try:
        with (
            program("tools.bench.provider", str(bench.provider_port)) as provider,
            program("tools.bench.relay", str(bench.relay_port), bench.provider) as relay,
        ):
            bench.start(relay, provider)
            scenarios.memory(bench, "idle")
            for name, scenario in SCENARIOS.items():
                if name in args.only:
                    scenario(bench)
            scenarios.memory(bench, "afterwards")
    finally:
        bench.arena.stop()
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
