import json
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from battles.worker.runner import Engine
from benchmarks import streaming
from benchmarks.models import Run, RunItem
from benchmarks.reports import store
from benchmarks.reports.store import ReportPayload
from benchmarks.worker.runner import drive
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]


def read_events(reader: Reader, address: str) -> list[tuple[str, dict[str, object]]]:
    """Read a run's stream to its end."""
    return [(name, json.loads(data or "{}")) for _id, name, data in reader.follow(address)]


def test_worker_publishes_counts_items_and_the_end(
    fake_provider: FakeProvider, reader: Reader, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)
    start = streaming.position_now()  # before the run, which may end before the stream is opened
    run = factory.run(factory.version(12), make.model("honest", at=fake_provider.base_url), concurrency=4)
    token, counts_only = (streaming.RunToken(run.public_id, with_items).signed() for with_items in (True, False))
    engine.run(partial(drive, run.pk), "run")
    events = read_events(reader, f"/benchmarks/stream/{token}/?after={start}")
    assert ({name for name, _data in events[:-1]}, events[-1][0]) == ({"progress"}, "end")
    last = events[-2][1]
    entrant = str(run.entrants.get().pk)
    assert (last["state"], last["entrants"][entrant]["scored"]) == ("done", 12)
    shown = {item[0]: item[1:] for _name, data in events[:-1] for item in data["items"]}
    assert shown == {pk: ["scored", 1.0, True] for pk in RunItem.objects.values_list("pk", flat=True)}
    counts = read_events(reader, f"/benchmarks/stream/{counts_only}/?after={start}")
    assert counts[:-1] == [(name, data | {"items": []}) for name, data in events[:-1]]


def test_end_of_slow_report_is_published(
    fake_provider: FakeProvider, reader: Reader, engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    compute_report = store.compute_report

    def compute_late(run: Run) -> ReportPayload:
        wait_for(lambda: run.pk not in streaming._pending)
        return compute_report(run)

    monkeypatch.setattr(store, "compute_report", compute_late)
    monkeypatch.setattr(streaming, "INTERVAL_S", 0.01)
    start = streaming.position_now()
    run = factory.run(factory.version(2), make.model("honest", at=fake_provider.base_url))
    token = streaming.RunToken(run.public_id).signed()
    engine.run(partial(drive, run.pk), "run")
    assert read_events(reader, f"/benchmarks/stream/{token}/?after={start}")[-1][0] == "end"


def test_opening_a_stream_needs_no_query(client: Client):
    token = streaming.RunToken("a-run").signed()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(f"/benchmarks/stream/{token}/")
    assert (response.status_code, len(queries)) == (200, 0)
    response.close()
    assert client.get("/benchmarks/stream/forged/").status_code == 404


def test_publishing_without_valkey_only_warns(fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch):
    run = factory.run(factory.version(1), make.model("honest", at=fake_provider.base_url))
    monkeypatch.setattr("benchmarks.streaming.connection", _unreachable)
    assert streaming.publish(run.pk).state == Run.State.RUNNING


def _unreachable() -> None:
    raise ConnectionError("no Valkey")
