"""A finished run of 100,000 items: its report, files, pages and deletion."""

import time
from urllib.request import Request, urlopen

from tools.bench.arena import Bench
from tools.bench.load import percentile
from tools.bench.scenarios import print_row

CASES, ENTRANTS = 10_000, 10
ROWS = """
INSERT INTO benchmarks_runcount (entrant_id, state, n)
SELECT id, state, 0 FROM benchmarks_entrant,
    unnest(ARRAY['queued', 'answering', 'answered', 'scored', 'failed', 'skipped', 'left_out']) AS state
WHERE run_id = %(run)s;
INSERT INTO benchmarks_runitem (
    run_id, entrant_id, case_id, repeat, turn, position, state, attempt, fence, due_at, error, preempted,
    score, passed, scored_by, finished_at
)
SELECT %(run)s, entrant.id, c.id, 0, 0, c.position, 'scored', 1, 1, now(), '', 0,
    round(chance::numeric, 1), chance > 0.5, 'digest', now()
FROM benchmarks_case AS c
CROSS JOIN benchmarks_entrant AS entrant
CROSS JOIN LATERAL (SELECT random() * (0.7 + 0.03 * entrant.position) AS chance WHERE c.id > 0) AS drawn
WHERE c.version_id = %(version)s AND entrant.run_id = %(run)s
ORDER BY c.position, entrant.position;
CREATE TEMPORARY TABLE made AS
SELECT item.id AS item_id, item.score, entrant.model_id,
    nextval(pg_get_serial_sequence('battles_call', 'id')) AS call_id
FROM benchmarks_runitem AS item JOIN benchmarks_entrant AS entrant ON entrant.id = item.entrant_id
WHERE item.run_id = %(run)s;
INSERT INTO battles_call (
    id, purpose, lease_until, model_id, attempt, fence, state, request, started_at, first_token_ms, total_ms,
    prompt_tokens, completion_tokens, reasoning_tokens, tokens_estimated, cost, finish_reason, error,
    provider_request_id
)
SELECT call_id, 'item', now(), model_id, 1, 1, 'done', '{"model": "words", "parameters": {}, "turns": []}',
    now() - interval '1 day', 100 + random() * 400, 500 + random() * 1000, 20, 50, 0, false, 0.00012345,
    'stop', '', ''
FROM made;
INSERT INTO benchmarks_itemcall (item_id, turn, fence, call_id) SELECT item_id, 0, 1, call_id FROM made;
INSERT INTO benchmarks_reply (model_id, owner_id, text, reasoning, finish_reason, answer_key, call_id)
SELECT model_id, %(owner)s, repeat('many words ', 25) || call_id, '', 'stop', '', call_id FROM made;
INSERT INTO benchmarks_itemreply (item_id, turn, reply_id)
SELECT made.item_id, 0, reply.id FROM made JOIN benchmarks_reply AS reply USING (call_id);
INSERT INTO benchmarks_score (
    item_id, check_key, source, value, passed, error, label, detail, version, metric, weight
)
SELECT made.item_id, 'check-' || n, 'check', (made.score > 0.2 * n)::integer, made.score > 0.2 * n, '', '',
    '{"found": "word"}', 'version', CASE WHEN n > 0 THEN 'metric-' || n ELSE '' END, 1
FROM made CROSS JOIN generate_series(0, 4) AS n;
DROP TABLE made
"""
# Scores, calls and replies are inserted by SQL: a worker would take ten minutes.
CREATE = """
from django.db import connection
from accounts.models import User
from benchmarks.models import Case, Check, Entrant, Prompt, Run, Template, TemplateVersion
from models_registry.models import LanguageModel
from tools.bench.large_run import ROWS
owner = User.objects.get(email="bench@example.org")
template = Template.objects.create(owner_user=owner, slug=f"large-{{Template.objects.count()}}", name="Large")
version = TemplateVersion.objects.create(template=template, case_count={cases})
prompt = Prompt.objects.create(version=version, messages=[{{"role": "user", "template": "About {{{{ topic }}}}."}}])
Check.objects.bulk_create(
    Check(version=version, position=n, key=f"check-{{n}}", scorer="contains", metric=f"metric-{{n}}" if n else "")
    for n in range(5)
)
Case.objects.bulk_create([
    Case(version=version, position=n, key=f"case {{n}}", variables={{"topic": f"topic {{n}}"}}, expected=["word"],
         digest=f"{{n:064x}}", tags=[f"tag {{n % 20}}"])
    for n in range({cases})
], 2000)
version.state, version.digest, version.frozen_at = "frozen", "0" * 64, template.created_at
version.save()
run = Run.objects.create(
    version=version, owner=owner, state="done", entrant_count={entrants}, item_count={cases} * {entrants},
    started_at=template.created_at, finished_at=template.created_at,
)
models = list(LanguageModel.objects.order_by("slug")[:2])
Entrant.objects.bulk_create(
    Entrant(run=run, position=n, model=models[n % 2], prompt=prompt, parameters={{"seed": n}}, parameters_digest=str(n))
    for n in range({entrants})
)
with connection.cursor() as cursor:
    for statement in ROWS.split(";"):
        cursor.execute(statement, {{"run": run.pk, "version": version.pk, "owner": owner.pk}})
    cursor.execute("ANALYZE")
print(run.pk)
"""


REPORT = """
import resource, time
from benchmarks.reports.store import compute_report, store_report
from benchmarks.models import Run
run = Run.objects.get(pk={run})
compute_report(run)  # imports scipy
began = time.process_time()
store_report(run, compute_report(run))
print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
EXPORT = """
import time
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.run_export import RunExport
from benchmarks.models import Run
began = time.process_time()
size = sum(len(chunk) for chunk in WRITERS["{ending}"](RunExport(Run.objects.get(pk={run}))))
print(time.process_time() - began, size / 1e6)
"""
COOKIE = """
from django.test import Client
from accounts.models import User
from benchmarks.models import Run
browser = Client()
browser.force_login(User.objects.get(email="bench@example.org"))
print(browser.cookies["sessionid"].value, Run.objects.get(pk={run}).public_id)
"""
DELETE = """
import time
from benchmarks.actions.deletion import delete_run
from benchmarks.models import Run
began = time.perf_counter()
delete_run(Run.objects.get(pk={run}))
print(time.perf_counter() - began)
"""


def large_run(bench: Bench) -> None:
    print(f"a run of {CASES * ENTRANTS:,} items, {ENTRANTS} entrants, 5 checks, 6 metrics")
    run = int(bench.arena.shell(CREATE.format(cases=CASES, entrants=ENTRANTS)))
    seconds, megabytes = map(float, bench.arena.shell(REPORT.format(run=run)).split())
    print_row("report, CPU", f"{seconds:.2f} s", "bar 1 s")
    print_row("report, peak memory of the process", f"{megabytes:.0f} MB", "bar 250 MB")
    for ending, bar in (("jsonl", 8), ("parquet", 8), ("xlsx", 30)):
        seconds, megabytes = map(float, bench.arena.shell(EXPORT.format(run=run, ending=ending)).split())
        print_row(f"export as {ending}, {megabytes:.0f} MB, CPU", f"{seconds:.1f} s", f"bar {bar} s")
    cookie, public_id = bench.arena.shell(COOKIE.format(run=run)).split()
    for name, page in (("run", ""), ("matrix", "matrix/"), ("matrix, in the middle", "matrix/?after=5000")):
        milliseconds, size = _times(f"{bench.arena.url}/benchmarks/r/{public_id}/{page}", cookie)
        print_row(f"page of the {name}, {size / 1000:.0f} kB, p95", f"{milliseconds:.0f} ms", "bar 120 ms, 250 kB")
    print_row("deletion", f"{float(bench.arena.shell(DELETE.format(run=run))):.1f} s", "bar 30 s")


def _times(url: str, cookie: str) -> tuple[float, int]:
    """Return the 95th percentile of 40 requests in milliseconds, after two that are not counted, and bytes."""
    request, milliseconds, size = Request(url, headers={"Cookie": f"sessionid={cookie}"}), [], 0
    for _ in range(42):
        began = time.perf_counter()
        with urlopen(request, timeout=60) as answer:
            size = len(answer.read())
        milliseconds.append((time.perf_counter() - began) * 1000)
    return percentile(milliseconds[2:], 0.95), size
