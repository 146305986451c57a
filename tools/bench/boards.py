"""Cost of a board of 300 models and a million votes: `make bench BENCH="--only board"`, or only aggregation."""

import asyncio
import re
import sys
import time
from statistics import median

from tools.bench.arena import Bench
from tools.bench.load import percentile
from tools.bench.scenarios import print_row
from tools.bench.vote_files import vote_files

BATCH = 10_000
BATCHES = 6  # every second or third changes Overall's votes by 2 %, after which its voters are read anew
BARS_S = {True: 1, False: 3}  # of a run, by whether it copies Overall's design effects
MAX_PENDING = 200_000  # votes cast before an aggregation

QUERIES = """
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
for path in {paths}:
    with CaptureQueriesContext(connection) as queries:
        assert Client(SERVER_NAME="127.0.0.1").get(path).status_code == 200
    print("QUERIES", path, len(queries))
"""
IS_COPIED = """
from leaderboard.models import OVERALL, AggregationRun
run = AggregationRun.objects.snapshots(OVERALL)[0]
print("COPIED", run.facts["design_effects_of"] != run.public_id)
"""
PROFILE = """
import cProfile, pstats, time
from django.db import connection
from leaderboard.aggregation import job
from leaderboard.counting import schedule
from tools.bench.meter import cpu_seconds
with connection.cursor() as cursor:
    cursor.execute("SELECT pg_backend_pid()")
    [backend] = cursor.fetchone()
profile, python, database = cProfile.Profile(), time.process_time(), cpu_seconds(backend)
run = profile.runcall(job.aggregate, slot=schedule.new_slot())
print("PROFILE", time.process_time() - python, "CPU of Python and its threads")
print("PROFILE", cpu_seconds(backend) - database, "CPU of PostgreSQL")
for (_, _, name), (_, _, _, _, callers) in pstats.Stats(profile).stats.items():
    for (_, _, caller), (_, _, _, seconds) in callers.items():
        if caller == "_publish" and seconds >= 0.01:
            print("PROFILE", seconds, name.strip("<>"))
"""
RETRACT = """
import time
from battles.models import Vote
from leaderboard import actions
some = Vote.objects.filter(excluded_reason="").order_by("voter")[:{number}]
votes = Vote.objects.filter(pk__in=some.values("pk"))
began = time.perf_counter()
changed = actions.retract_votes(votes, reason="operator", by=None, because="bench")
print("TOOK", time.perf_counter() - began)
began = time.perf_counter()
actions.restore_votes(Vote.objects.filter(pk__in=[vote.pk for vote in changed]), by=None, because="bench")
print("TOOK", time.perf_counter() - began)
"""
FORGET = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("TRUNCATE leaderboard_pairtally, leaderboard_voterpairtally")
"""
PAGES = ["/leaderboard/", "/leaderboard/?board=language:en&sort_by=votes", "/api/v1/leaderboard/"]


def aggregation(bench: Bench) -> None:
    print(f"300 models and {bench.votes:,} votes, on Overall and 15 boards of categories and languages")
    last = cast_and_count(bench)
    print_row(f"a run that takes {MAX_PENDING:,} votes", f"{last:.1f} s")
    seconds: dict[bool, list[float]] = {is_copied: [] for is_copied in BARS_S}
    for _ in range(BATCHES):
        _cast(bench, BATCH)
        took = _aggregate(bench)
        seconds["COPIED True" in _shell(bench, IS_COPIED)].append(took)
    for is_copied, bar in BARS_S.items():
        figure = f"{median(seconds[is_copied]):.2f} s" if seconds[is_copied] else "no run"
        clusters = "copied" if is_copied else "computed"
        print_row(f"{BATCH:,} more votes, Overall's design effects {clusters}", figure, f"bar {bar} s")
    _profile(bench)


def _profile(bench: Bench) -> None:
    _cast(bench, BATCH)
    timings = re.findall(r"PROFILE (\S+) (.+)", _shell(bench, PROFILE))
    print("Profile of one more run, in seconds: CPU, then the steps' wall-clock time")
    for seconds, step in timings[:2] + sorted(timings[2:], key=lambda row: -float(row[0])):
        print_row(f"  {step}", f"{float(seconds):.2f}")


def board(bench: Bench) -> None:
    aggregation(bench)
    _rebuild(bench, "rebuild of sound tallies")
    _shell(bench, FORGET)
    _rebuild(bench, "rebuild from nothing")
    for number in (1, 1000):
        retract_s, restore_s = re.findall(r"TOOK (\S+)", _shell(bench, RETRACT.format(number=number)))
        print_row(
            f"{number:,} votes excluded, counted again, Elo replayed",
            f"{float(retract_s):.2f} s, {float(restore_s):.2f} s",
        )
    for path, queries in re.findall(r"QUERIES (\S+) (\d+)", _shell(bench, QUERIES.format(paths=PAGES))):
        print_row(f"queries of {path}", queries)
    for path in PAGES:
        page_seconds = asyncio.run(_page(bench, path))
        p50, p95 = (percentile(page_seconds, share) * 1000 for share in (0.5, 0.95))
        print_row(f"{path}: p50, p95", f"{p50:.0f} ms, {p95:.0f} ms", "bar 100 ms at p95")
    vote_files(bench)


def cast_and_count(bench: Bench) -> float:
    """Cast votes unless they exist; return the last aggregation's seconds."""
    last = 0.0
    while bench.cast < bench.votes:
        _cast(bench, min(MAX_PENDING, bench.votes - bench.cast))
        last = _aggregate(bench)
    return last


def _cast(bench: Bench, number: int) -> None:
    days_ago = [str(max(0, bench.days * (1 - cast / bench.votes))) for cast in (bench.cast, bench.cast + number)]
    command = [sys.executable, "-m", "tools.bench.synthetic_votes", "--votes", str(number), "--days-ago", *days_ago]
    done = bench.arena.run(*command, within=300)
    assert done.returncode == 0, done.stderr
    bench.cast += number


def _aggregate(bench: Bench) -> float:
    """Aggregate; return the seconds that the run reports."""
    while "Another run" in (done := bench.arena.run(sys.executable, "manage.py", "aggregate_votes", within=600)).stderr:
        time.sleep(1)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"(\d+) ms", done.stdout)[1]) / 1000


def _rebuild(bench: Bench, label: str) -> None:
    began = time.perf_counter()
    done = bench.arena.run(sys.executable, "manage.py", "rebuild_tallies", within=600)
    assert done.returncode == 0, done.stderr
    print_row(label, f"{time.perf_counter() - began:.1f} s", "bar 30 s")


def _shell(bench: Bench, code: str) -> str:
    done = bench.arena.run(sys.executable, "manage.py", "shell", "-c", code, within=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def _page(bench: Bench, path: str) -> list[float]:
    """Return the seconds of each of 200 requests, two at a time."""
    seconds = []
    async with bench.crowd.client() as client:

        async def get() -> None:
            began = time.perf_counter()
            async with client.get(path) as response:
                assert response.status == 200
                await response.read()
            seconds.append(time.perf_counter() - began)

        for _ in range(100):
            await asyncio.gather(get(), get())
    return seconds
