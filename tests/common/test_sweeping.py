import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from battles.models import Session
from battles.sweep import sweep as sweep_battles
from benchmarks.sweep import sweep as sweep_benchmarks
from common.sweeping import Step, Sweep
from uploads.sweep import sweep as sweep_uploads

pytestmark = pytest.mark.django_db


def test_steps_run_from_the_first_with_work():
    ran: list[str] = []
    sweep = Sweep(
        Step(lambda: Session.objects.filter(title="tides"), lambda: ran.append("tides")),
        Step(lambda: Session.objects.filter(title="salt"), lambda: ran.append("salt")),
        Step(lambda: Session.objects.order_by("pk")[:1], lambda: ran.append("any")),
        Step(lambda: Session.objects.filter(title="50% o'clock"), lambda: ran.append("last")),
    )
    sweep()
    assert ran == []
    Session.objects.create(title="salt")
    sweep()
    assert ran == ["salt", "any", "last"]


@pytest.mark.parametrize("sweep", [sweep_battles, sweep_uploads, sweep_benchmarks])
def test_idle_round_is_one_statement_of_indexes(sweep: Sweep):
    with CaptureQueriesContext(connection) as queries:
        sweep()
    [query] = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {query['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    for table in ("battles_turn", "battles_call", "battles_session", "uploads_upload", "benchmarks_runitem"):
        assert f"Seq Scan on {table} " not in plan
