"""Valkey and the sweeper under the load of battles that just ended."""

import sys
from statistics import median

import redis

from tests.worlds.arena import SWEEPER
from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

STREAMS = "turn:*"
ENTRIES, PER_TRANSACTION = 50_000, 50
SWEEP = """
import time
from datetime import timedelta
from django.utils import timezone
from battles import sweep
from battles.models import Turn
from battles.streaming.control import TRUNCATED_UNTIL, truncate_finished_streams
from common.valkey.connections import connection
def took(work):
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - cpu
sweep.sweep()
print("IDLE", *took(sweep.sweep))
Turn.objects.filter(state="done").update(finished_at=timezone.now() - timedelta(seconds=10))
print("ENDS", Turn.objects.recently_finished().count(), *took(sweep._repair_ends))
Turn.objects.filter(state="done").update(finished_at=timezone.now() - timedelta(seconds=70))
connection().delete(TRUNCATED_UNTIL)
print("TRUNCATE", Turn.objects.filter(state="done").count(), *took(lambda: truncate_finished_streams(at_most=500)))
ids = list(Turn.objects.filter(state="done").order_by("-pk").values_list("pk", flat=True)[:{lost}])
lost = Turn.objects.filter(pk__in=ids)
lost.update(state="answering", lease_until=timezone.now() - timedelta(minutes=1), attempt=1)
print("LOST", len(ids), *took(sweep._recover_abandoned))
lost.update(state="done", lease_until=None)
"""
LOST = 500
STEPS = {
    "ENDS": "looks for lost ends of streams, of the last 35 s",
    "TRUNCATE": "streams truncated, 500 a round",
    "LOST": "turns of lost workers requeued, 500 a round",
}


def commands(bench: Bench) -> int:
    return int(_valkey(bench).info("stats")["total_commands_processed"])


def stream_bytes(bench: Bench) -> float:
    """Return the memory of a finished battle's stream: the median of some."""
    valkey = _valkey(bench)
    sizes = [valkey.memory_usage(key) for key in valkey.scan_iter(STREAMS, count=1_000)]
    return median(size for size in sizes if size)


def print_valkey_ceiling(bench: Bench) -> None:
    """Print entries per second as workers write them, many in one transaction."""
    valkey, entry = _valkey(bench), {"events": "x" * 250}
    before = bench.meter.cpu()["valkey"]
    for _ in range(ENTRIES // PER_TRANSACTION):
        with valkey.pipeline(transaction=True) as pipeline:
            for number in range(PER_TRANSACTION):
                pipeline.xadd(f"bench:{number}", entry, maxlen=100)
            pipeline.execute()
    cpu = bench.meter.cpu()["valkey"] - before
    print_row("one Valkey: entries per second of its core, 50 in a transaction", f"{ENTRIES / cpu:,.0f}")
    valkey.delete(*(f"bench:{number}" for number in range(PER_TRANSACTION)))


def sweeper(bench: Bench) -> None:
    print("The sweeper, whose rounds begin two seconds after the last one")
    bench.use_token_model(1, 0)
    with bench.arena.hung(SWEEPER):
        done = bench.arena.run(sys.executable, "manage.py", "shell", "-c", SWEEP.format(lost=LOST), within=240)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    idle = next(line[1] for line in lines if line[0] == "IDLE")
    rows = {name: [float(value) for value in values] for name, *values in lines if name in STEPS}
    print_row("a round in which nothing is due", f"{1000 * float(idle):.0f} ms")
    for name, label in STEPS.items():
        turns, seconds, cpu = rows[name]
        turns = min(turns, 500) if name == "TRUNCATE" else turns
        print_row(label, f"{turns / seconds:,.0f} turns/s", f"{1e6 * cpu / turns:.0f} µs of CPU each")


def _valkey(bench: Bench) -> redis.Redis:
    return redis.Redis.from_url(bench.arena.services["REDIS_URL"], decode_responses=True)
