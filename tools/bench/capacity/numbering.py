"""Ways to number votes, by pgbench on the arena's own tables: docs/adr/0081 has the results.

Each vote is a transaction of two INSERTs, as in `battles.actions.votes`, without the reads before them.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg

from arena_site.embedded.postgres import binary
from tests.waiting import wait_for
from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

SECONDS, BLOCK, MODELS = 3, 1_000, 20
BATTLES = 250_000
PAUSE_OF_NUMBERER_S = 0.02
PREPARE = f"""
from battles.models import Battle, Session
from models_registry.models import LanguageModel
first = LanguageModel.objects.order_by("pk")[0]
LanguageModel.objects.bulk_create(
    LanguageModel(
        provider=first.provider, upstream_name=first.upstream_name, name=f"More {{number}}", slug=f"more-{{number}}",
        family=f"more-{{number}}",
    )
    for number in range({MODELS} - LanguageModel.objects.count())
)
sessions = Session.objects.bulk_create([Session(title="bench") for _ in range({BATTLES})], batch_size=2_000)
Battle.objects.bulk_create([Battle(session=session, propensity=1) for session in sessions], batch_size=2_000)
"""
ROW = """
WITH drawn AS (
    SELECT array_agg(id ORDER BY random()) AS models, (SELECT nextval('bench_battle')) AS number FROM bench_models
),
vote AS (
    INSERT INTO battles_vote (
        battle_id, mode, origin, choice, model_left_id, model_right_id, "order", turn_count, style, voter,
        categories, language, labelled_by, prompt_digest, excluded_reason, tags, comment
    ) SELECT
        (SELECT id FROM bench_battles WHERE number = drawn.number), 'blind', 'draw', 'left',
        models[1], models[2], {order}, 1, '{{"left": {{"tokens": 200}}, "right": {{"tokens": 200}}}}',
        'visitor:' || :client_id, '{{}}', 'en', 'bench', '', '', '{{}}', ''
    FROM drawn RETURNING id
)
INSERT INTO battles_votenetwork (vote_id, network, day) SELECT id, 'bench', current_date FROM vote;
"""
AT_COMMIT = ROW.format(order="NULL")
BY_RANGE = f"""
\\if :left = 0
    UPDATE battles_votecounter SET last_order = last_order + {BLOCK} WHERE id = 1
    RETURNING last_order - {BLOCK - 1} AS next \\gset
    \\set left {BLOCK}
\\endif
\\set number :next
\\set next :next + 1
\\set left :left - 1
""" + ROW.format(order=":number")
# Votes are numbered one by one, because each moves live Elo from where the one before left it.
NUMBER = """
DO $$
DECLARE one bigint;
BEGIN
    FOR one IN SELECT id FROM battles_vote WHERE "order" IS NULL ORDER BY id LIMIT 1000 LOOP
        UPDATE battles_vote SET "order" = battles_next_vote_order() WHERE id = one;
    END LOOP;
END $$
"""
TABLES = f"""
CREATE TABLE bench_battles AS
    SELECT row_number() OVER (ORDER BY id) AS number, id FROM (
        SELECT id FROM battles_battle ORDER BY id DESC LIMIT {BATTLES}
    ) AS newest;
ALTER TABLE bench_battles ADD PRIMARY KEY (number);
CREATE TABLE bench_models AS SELECT id FROM models_registry_languagemodel;
CREATE SEQUENCE bench_battle CACHE 50;
CREATE INDEX bench_unnumbered ON battles_vote (id) WHERE "order" IS NULL;
"""
AUTOVACUUM = "SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


class Way(NamedTuple):
    """numberer: a process numbers votes after their COMMIT, in batches."""

    name: str
    script: str
    options: str = ""
    numberer: bool = False


WAYS = (
    Way("at COMMIT, as now", AT_COMMIT),
    Way("at COMMIT, without waiting for the disk", AT_COMMIT, options="-c synchronous_commit=off"),
    Way("by range of 1,000, without live Elo", BY_RANGE),
    Way("after COMMIT, in batches, by one process", AT_COMMIT, numberer=True),
)
CLIENTS = (1, 8, 32)


def numbering(bench: Bench) -> float:
    """Print votes per second of each way; return the highest of the present one."""
    print(f"Votes straight to PostgreSQL for {SECONDS} s, by connections that commit at once; {MODELS} models")
    prepare(bench)
    best = 0.0
    for clients in CLIENTS:  # the ways in turn, so that other work on the machine and its disk meets them alike
        for way in WAYS:
            rate, cpu_ms = _measure(bench, way, clients)
            print_row(f"{way.name}, {clients} connections", f"{rate:,.0f} votes/s", f"{cpu_ms:.2f} CPU ms per vote")
            if way is WAYS[0]:
                best = max(best, rate)
    return best


def prepare(bench: Bench) -> None:
    made = bench.arena.run(sys.executable, "manage.py", "shell", "-c", PREPARE)
    assert made.returncode == 0, made.stderr
    with psycopg.connect(bench.arena.services["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(TABLES)
        connection.execute("VACUUM ANALYZE")
        # Old versions of the counter's row stay while another transaction is open, and each vote passes them all.
        wait_for(lambda: connection.execute(AUTOVACUUM).fetchone() is None, within=60)


def _measure(bench: Bench, way: Way, clients: int) -> tuple[float, float]:
    """Return numbered votes per second and CPU milliseconds of PostgreSQL per vote."""
    with psycopg.connect(bench.arena.services["DATABASE_URL"], autocommit=True) as connection:
        before, cpu, began = _numbered(connection), bench.meter.cpu()["postgres"], time.perf_counter()
        with _numberer(connection) if way.numberer else nullcontext():
            connecting_s = _pgbench(bench, way, clients)
        seconds = time.perf_counter() - began - connecting_s
        votes = _numbered(connection) - before
        return votes / seconds, 1000 * (bench.meter.cpu()["postgres"] - cpu) / votes


def _numbered(connection: psycopg.Connection) -> int:
    [count] = connection.execute('SELECT count("order") FROM battles_vote').fetchone()
    return count


@contextmanager
def _numberer(connection: psycopg.Connection) -> Iterator[None]:
    """Number votes after their COMMIT until none is left, instead of by the trigger."""
    [trigger] = connection.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'battles_vote'::regclass "
        "AND tgname LIKE '%a_vote_is_numbered_at_commit%'"
    ).fetchone()
    connection.execute(f'ALTER TABLE battles_vote DISABLE TRIGGER "{trigger}"')
    ended = threading.Event()

    def number() -> None:
        while not ended.wait(PAUSE_OF_NUMBERER_S):
            connection.execute(NUMBER)

    thread = threading.Thread(target=number)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        while connection.execute('SELECT FROM battles_vote WHERE "order" IS NULL LIMIT 1').fetchone() is not None:
            connection.execute(NUMBER)
        connection.execute(f'ALTER TABLE battles_vote ENABLE TRIGGER "{trigger}"')


def _pgbench(bench: Bench, way: Way, clients: int) -> float:
    """Return for how many seconds it connected."""
    url = urlsplit(bench.arena.services["DATABASE_URL"])
    environment = {
        "PGHOST": parse_qs(url.query)["host"][0], "PGUSER": url.username or "", "PGOPTIONS": way.options,
        "PGPASSWORD": unquote(url.password or ""), "PGDATABASE": url.path.lstrip("/"),
    }  # fmt: skip
    with TemporaryDirectory() as directory:
        script = Path(directory) / "vote.sql"
        script.write_text(way.script)
        flags = ["--no-vacuum", "--protocol=prepared", f"--client={clients}", "--jobs=1", f"--time={SECONDS}"]
        command = [str(binary("pgbench")), *flags, "-D", "left=0", "-D", "next=0", f"--file={script}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return float(re.search(r"initial connection time = ([\d.]+) ms", done.stdout)[1]) / 1000
