"""Benchmark runs of `make bench --only benchmarks`: CPU, wall time, statements and memory per item."""

import asyncio
import json
import time

import aiohttp

from tools.bench.arena import Bench
from tools.bench.load import BattleTiming, percentile
from tools.bench.meter import spent
from tools.bench.scenarios import print_row

MODELS = 10
MODEL = """
- {{id: bench-{number}, name: Bench {number}, model: {upstream}-{number}, base_url: "{provider}", needs_key: false,
   status: active}}
"""
CREATE = """
from accounts.models import User
from benchmarks import actions
from benchmarks.models import Case, Check, Prompt, ProviderPace, Template, TemplateVersion
from models_registry.models import LanguageModel
owner = User.objects.get(email="bench@example.org")
number = Template.objects.count()
template = Template.objects.create(owner_user=owner, slug=f"bench-{{number}}", name="Bench")
version = TemplateVersion.objects.create(template=template)
text = "Say many words about {{{{ topic }}}}."
Prompt.objects.create(version=version, messages=[{{"role": "user", "template": text}}])
Check.objects.create(version=version, key="word", scorer="contains")
Case.objects.bulk_create(
    Case(version=version, position=n, key=f"case {{n}}", variables={{"topic": f"topic {{n}}"}}, expected=["word"])
    for n in range({cases})
)
models = LanguageModel.objects.filter(slug__startswith="bench-", status="active").order_by("slug")[:{models}]
run = actions.create_run(
    owner=owner, version=version, entrants=[actions.EntrantRequest(model) for model in models],
    concurrency={concurrency}, starts_at_once=False,
)
print(run.pk)
"""
JUDGE = """
from benchmarks.judges.actions import JudgeContent, JudgingRequest, create_judge, start_judging
from benchmarks.judging.rubrics import Kind, Rubric
from benchmarks.models import Run
subject = Run.objects.get(pk={run})
model = subject.entrants.earliest("position").model
content = JudgeContent("Bench", model, Rubric(kind=Kind.PAIRWISE), {{}}, "allow")
judge = create_judge(owner=subject.owner, content=content)
request = JudgingRequest(judge, subject, plan="regular", pairs_per_case={pairs}, with_card=False)
print(start_judging(request, owner=subject.owner, starts_at_once=False).run_id)
"""
START = """
from benchmarks import actions
from benchmarks.models import Run
actions.start_run(Run.objects.get(pk={run}))
"""
CANCEL = """
from benchmarks import actions
from benchmarks.models import Run
actions.cancel_run(Run.objects.get(pk={run}))
"""
COUNT_STATEMENTS = """
import time
from functools import partial
from django.db.backends.utils import CursorWrapper
from django.db.models.functions import Now
from datetime import timedelta
from battles.worker.runner import Engine
from benchmarks.models import Run
from benchmarks.worker.runner import drive
count, execute = [0], CursorWrapper._execute
def counted(self, *arguments):
    count[0] += 1
    return execute(self, *arguments)
Run.objects.filter(pk={run}).update(state="running", driven_until=Now() + timedelta(minutes=5))
CursorWrapper._execute = counted
engine = Engine()
engine.run(partial(drive, {run}), "run")
while Run.objects.get(pk={run}).state != "done":
    count[0] -= 1
    time.sleep(0.2)
engine.close()
CursorWrapper._execute = execute
print(count[0])
"""

# People's calls of the last minute would keep the run's calls away.
END_OF_QUIET = """
UPDATE battles_call SET started_at = started_at - interval '20 minutes'
WHERE started_at > now() - interval '20 minutes' AND state NOT IN ('running', 'waiting') RETURNING id
"""
# It ends only after the person's call has waited for long.
RUNNING_ITEM = """
SELECT id FROM battles_call
WHERE purpose = 'item' AND state = 'running'
    AND started_at BETWEEN now() - interval '0.5 seconds' AND now() - interval '0.3 seconds'
"""


def benchmark_runs(bench: Bench) -> None:
    items = bench.items
    print(f"a benchmark run of {items:,} items, {MODELS} models, 64 at once; answers of 50 tokens without delay")
    _use(bench, "tokens-50-at-0", calls_at_once=96)
    _run(bench, items // 20, 64)  # the pace is learned, the code compiled
    memory = bench.meter.memory()["answers"]
    run, prepared = _create(bench, items, 64)
    cpu, seconds = _drive(bench, run, items)
    grown = bench.meter.memory()["answers"] - memory
    ours = sum(cpu[part] for part in ("web", "answers", "valkey", "rendering"))
    print_row("CPU ms per item, web + answers + valkey", f"{1000 * ours / items:.2f}", "bar 4")
    print_row("CPU ms per item, postgres", f"{1000 * cpu['postgres'] / items:.2f}", "bar 2.5")
    print_row("wall", f"{seconds:.1f} s", f"bar {items * 60 / 10_000:.0f} s")
    print_row("preparation", f"{prepared:.1f} s", f"bar {items * 5 / 10_000:.1f} s")
    print_row("memory growth of the worker", f"{grown:.0f} MB", "bar 60")
    few = max(500, items // 10)
    _judge(bench, run, items)
    run, _ = _create(bench, few, 64)
    statements = int(bench.arena.shell(COUNT_STATEMENTS.format(run=run)))
    print_row(f"statements per item, {few} items", f"{statements / few:.2f}", "bar 1.5")
    slow = max(500, items // 10)
    print(f"{slow:,} items at 50 at once; 1 s to the first token, 50 tokens/s")
    upstream = "tokens-50-at-50-after-1000"
    _use(bench, upstream, calls_at_once=96)
    direct = asyncio.run(_direct(bench.provider, upstream, slow, 50))
    _, seconds, _ = _run(bench, slow, 50)
    print_row("wall against a direct asyncio client", f"{seconds / direct:.3f}", "bar 1.05")


def people_first(bench: Bench) -> None:
    """Battles beside a run that takes all it may at the same provider."""
    print("30 battles over 10 s at a provider with 64 calls at once, beside a run")
    _use(bench, "tokens-50-at-50-after-100", calls_at_once=64)
    alone, _, _ = bench.battles(30, over_s=10)
    run = _start(bench)
    calls_of_runs = "SELECT count(*) FROM benchmarks_itemcall AS c JOIN benchmarks_runitem AS i ON i.id = c.item_id"
    while bench.arena.query(f"{calls_of_runs} WHERE i.run_id = %s", run)[0][0] < 200:
        time.sleep(0.25)
    during, _, _ = bench.battles(30, over_s=10)
    bench.arena.shell(CANCEL.format(run=run))
    _print_later(during, alone, "bar 0.05 s")
    print("20 battles, one after the other, at a provider with one call at once, beside a run that has it")
    _use(bench, "tokens-50-at-50-after-100", calls_at_once=1)
    alone = [bench.battles(1)[0][0] for _ in range(20)]
    run, during = _start(bench), []
    for _ in range(20):
        bench.arena.query(END_OF_QUIET)
        while not bench.arena.query(RUNNING_ITEM):
            time.sleep(0.02)
        during += bench.battles(1)[0]
    bench.arena.shell(CANCEL.format(run=run))
    _print_later(during, alone, "bar 1 s")


def _start(bench: Bench) -> int:
    run, _ = _create(bench, 20_000, 64)
    bench.arena.shell(START.format(run=run))
    return run


def _print_later(during: list[BattleTiming], alone: list[BattleTiming], bar: str) -> None:
    print_row("failed battles", str(sum(bool(timing.error) for timing in during)), "bar 0")
    ours, theirs = (
        percentile([timing.first_text for timing in group if not timing.error], 0.95) for group in (during, alone)
    )
    print_row("first text p95, later than without the run", f"{ours - theirs:.3f} s", bar)


def _use(bench: Bench, upstream: str, *, calls_at_once: int) -> None:
    bench.models.write_text(
        "".join(MODEL.format(number=n, upstream=upstream, provider=bench.provider) for n in range(MODELS))
    )
    bench.arena.manage("import_models", str(bench.models))
    bench.arena.query(
        "UPDATE models_registry_provider SET calls_at_once = %s, is_answering = true WHERE base_url = %s RETURNING id",
        calls_at_once, bench.provider,
    )  # fmt: skip
    # These two models have another speed.
    bench.arena.query(
        "UPDATE models_registry_languagemodel SET status = 'paused' WHERE slug IN ('bench-a', 'bench-b') RETURNING id"
    )


def _judge(bench: Bench, run: int, items: int) -> None:
    """Have as many pairs of a run's answers judged as it has items."""
    began = time.perf_counter()
    judging = int(bench.arena.shell(JUDGE.format(run=run, pairs=MODELS // 2)))
    wait_for_run(bench, judging, "queued")
    prepared = time.perf_counter() - began
    cpu, _ = _drive(bench, judging, items)
    ours = sum(cpu[part] for part in ("web", "answers", "valkey", "rendering"))
    print_row("CPU ms per judgement, web + answers + valkey", f"{1000 * ours / items:.2f}", "bar 4")
    print_row("preparation of a judging", f"{prepared:.1f} s", f"bar {items * 5 / 10_000:.1f} s")


def _create(bench: Bench, items: int, concurrency: int) -> tuple[int, float]:
    """Create a run and wait until it is prepared; return its id, and seconds of its preparation."""
    began = time.perf_counter()
    code = CREATE.format(cases=items // MODELS, models=MODELS, concurrency=concurrency)
    run = int(bench.arena.shell(code))
    wait_for_run(bench, run, "queued")
    return run, time.perf_counter() - began


def _run(bench: Bench, items: int, concurrency: int) -> tuple[dict[str, float], float, float]:
    """Return CPU seconds by part, and seconds of the run and of its preparation."""
    run, prepared = _create(bench, items, concurrency)
    return *_drive(bench, run, items), prepared


def _drive(bench: Bench, run: int, items: int) -> tuple[dict[str, float], float]:
    """Return CPU seconds by part, and seconds of the run."""
    before, began = bench.meter.cpu(), time.perf_counter()
    bench.arena.shell(START.format(run=run))
    wait_for_run(bench, run, "done")
    seconds = time.perf_counter() - began
    cpu = spent(before, bench.meter.cpu())
    scored = bench.arena.query("SELECT count(*) FROM benchmarks_runitem WHERE run_id = %s AND score = 1", run)
    print_row("items without the right score", str(items - scored[0][0]), "bar 0")
    return cpu, seconds


def wait_for_run(bench: Bench, run: int, state: str) -> None:
    while bench.arena.query("SELECT state FROM benchmarks_run WHERE id = %s", run) != [(state,)]:
        time.sleep(0.25)


async def _direct(provider: str, model: str, number: int, at_once: int) -> float:
    """Return seconds for as many calls with a plain client."""
    slots, began = asyncio.Semaphore(at_once), time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:

        async def call() -> None:
            body = {"model": model, "messages": [{"role": "user", "content": "Say many words."}], "stream": True}
            async with slots, client.post(f"{provider}/chat/completions", data=json.dumps(body)) as response:
                async for _ in response.content:
                    pass

        await asyncio.gather(*(call() for _ in range(number)))
    return time.perf_counter() - began
