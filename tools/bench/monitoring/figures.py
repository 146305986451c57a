"""Figures over time: `make bench BENCH="--only figures --days 20"` counts a day of 50,000 battles."""

import json
from concurrent.futures import ThreadPoolExecutor

from tools.bench.arena import Bench
from tools.bench.boards import cast_and_count
from tools.bench.load import percentile
from tools.bench.pages import request_milliseconds
from tools.bench.scenarios import print_row
from tools.bench.teams import SHARED

DAYS = 1_095
# Requests of one reader, one after the other. The first draws the charts and is printed for itself.
REQUESTS = 21
READERS = 50
# Battles of the day before yesterday get what synthetic ones lack: sides, turns, answers and calls.
FILL_DAY = """
from datetime import UTC, datetime, time, timedelta
from battles.models import Answer, Battle, Call, Side, Turn, Vote
from django.db import connection
from metrics.rollup.job import today
start = datetime.combine(today() - timedelta(days=2), time(), UTC)
of_day = Vote.objects.filter(created_at__gte=start, created_at__lt=start + timedelta(days=1))
votes = list(of_day.values_list("battle", "model_left", "model_right", "created_at"))
sides = Side.objects.bulk_create([
    Side(battle_id=battle, position=place, model_id=model)
    for battle, left, right, _at in votes for place, model in (("left", left), ("right", right))
], 1_000)
turns = Turn.objects.bulk_create([
    Turn(battle_id=battle, index=0, prompt="?", state="done", created_at=at, finished_at=at)
    for battle, _left, _right, at in votes
], 1_000)
turn_of = {turn.battle_id: turn for turn in turns}
answers = Answer.objects.bulk_create(
    [Answer(turn=turn_of[side.battle_id], side=side, state="done", text="!") for side in sides], 1_000
)
Call.objects.bulk_create([
    Call(
        answer=answer, model_id=answer.side.model_id, purpose="answer", state="done", attempt=1, fence=1, request={},
        prompt_tokens=20, started_at=answer.turn.created_at, completion_tokens=200 + n % 300, cost="0.0001",
        first_token_ms=100 + 37 * n % 3000, total_ms=4000 + 91 * n % 20000,
    )
    for n, answer in enumerate(answers)
], 1_000)
with connection.cursor() as cursor:
    cursor.execute("ANALYZE battles_side, battles_turn, battles_answer, battles_call")
print(start.date().isoformat(), len(votes))
"""
COUNT_DAY = """
import json, time
from datetime import date
from django.utils import timezone
from metrics.rollup.families import ALL, Reveal
from metrics.rollup.job import roll_up_today
from metrics.rollup.writing import roll_up
seconds, reveal = {{}}, Reveal(timezone.now(), 10**12, timezone.now())  # also votes that no snapshot has
for family in ALL:
    began = time.perf_counter()
    roll_up(family, date.fromisoformat("{day}"), reveal)
    seconds[family.name] = time.perf_counter() - began
began = time.perf_counter()
roll_up_today()
print(json.dumps({{"families": seconds, "today": time.perf_counter() - began}}))
"""
# Each earlier day has the figures of the day that was counted.
COPY_DAYS = """
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute(
        "INSERT INTO metrics_metricday (day, team_id, metric, span, dim, key, n, total, buckets) "
        "SELECT day - ago, team_id, metric, span, dim, key, n, total, buckets FROM metrics_metricday, "
        "generate_series(1, {days}) AS ago WHERE day = %s ON CONFLICT DO NOTHING", ["{day}"],
    )
    cursor.execute("ANALYZE metrics_metricday")
    cursor.execute("SELECT count(*) FROM metrics_metricday")
    print(cursor.fetchone()[0])
"""
OPERATOR = """
operator = User.objects.create_superuser("bench-operator@example.org", "operator")
print(json.dumps({"cookie": cookie_of(operator)}))
"""
PAGES = [
    f"/admin/metrics/{page}{period}"
    for page in ("", "funnel/", "models/", "speed/", "money/", "router/")
    for period in ("", "?bucket=month&from={start}")
]


def figures(bench: Bench) -> None:
    cast_and_count(bench)
    day, battles = bench.arena.shell(FILL_DAY).split()
    print(f"Figures over time: a day of {int(battles):,} battles, then {DAYS} days of 300 models")
    counted = json.loads(bench.arena.shell(COUNT_DAY.format(day=day)))
    for family, seconds in sorted(counted["families"].items(), key=lambda each: -each[1])[:5]:
        print_row(f"count the day: {family}", f"{seconds:.2f} s")
    print_row("count the day, all families", f"{sum(counted['families'].values()):.1f} s", "bar 10")
    print_row("count today", f"{counted['today']:.2f} s", "bar 1")
    rows = int(bench.arena.shell(COPY_DAYS.format(days=DAYS, day=day)))
    print_row("stored figures", f"{rows:,}")
    cookie = json.loads(bench.arena.shell(SHARED + OPERATOR))["cookie"]
    start = bench.arena.query("SELECT (current_date - %s)::text", DAYS - 1)[0][0]
    addresses = [bench.arena.url + page.format(start=start) for page in PAGES]
    for path in [*addresses, bench.arena.url + "/statistics/?bucket=week", bench.arena.url + "/metrics"]:
        first, *took = request_milliseconds(path, cookie, REQUESTS)
        shown = f"{percentile(took, 0.95):.0f} ms p95, first {first:.0f}"
        print_row(path.removeprefix(bench.arena.url), shown, "bar 150")
    with ThreadPoolExecutor(READERS) as readers:
        paths = [addresses[number % len(addresses)] for number in range(READERS)]
        took = [times[0] for times in readers.map(lambda path: request_milliseconds(path, cookie, 1), paths)]
    print_row(f"{READERS} readers at once, slowest answer", f"{max(took):.0f} ms")
