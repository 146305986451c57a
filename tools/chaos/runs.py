"""`python -m tools.chaos.runs`: kill worker, Valkey and PostgreSQL during a benchmark run, then check its books."""

import argparse
import os
import random
import time

import django
import redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from tests.fake_provider import FakeProvider  # noqa: E402
from tests.waiting import wait_for  # noqa: E402
from tests.worlds.arena import ANSWERS, POSTGRES, VALKEY, arena_with  # noqa: E402
from tests.worlds.benchmark_runs import check_books, start_run, stored  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    choose, provider = random.Random(args.seed), FakeProvider().start()
    try:
        with arena_with(provider) as arena:
            run = start_run(arena, cases=args.items // 2, concurrency=32)
            began = time.monotonic()
            for kill in range(args.kills):
                goal = (kill + 1) * args.items // (args.kills + 1)
                wait_for(lambda goal=goal: stored(arena, run) >= goal, within=600)
                program = POSTGRES if kill == args.kills // 2 else VALKEY if kill == args.kills // 3 else ANSWERS
                if kill == args.kills // 4:
                    redis.Redis.from_url(arena.services["REDIS_URL"]).flushall()
                time.sleep(choose.random() / 10)
                killed = arena.signal(program)
                requests_before = len(provider.requests)
                fell = time.monotonic()
                wait_for(lambda program=program, killed=killed: arena.has_restarted(program, killed), within=300)
                wait_for(lambda requests_before=requests_before: len(provider.requests) > requests_before, within=300)
                print(f"{goal:>6} items stored, {program} killed; next call after {time.monotonic() - fell:.1f} s")
            check_books(arena, run, args.items, provider)
            lost = len(provider.requests) - args.items
            print(f"{args.items} items in {time.monotonic() - began:.0f} s, {args.kills} kills: {lost} calls lost")
    finally:
        provider.stop()


if __name__ == "__main__":
    main()
