import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
import redis
import yaml
from django.conf import settings as site_settings
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts import audit
from arena_site.operations import facts, metrics
from arena_site.operations.first_steps import BACKUP
from arena_site.operations.series import slow
from battles.calls.values import CallResult
from battles.models import Turn
from battles.worker import turn_store
from common.valkey import counters, heartbeat
from common.valkey.connections import connection
from leaderboard.models import OVERALL, AggregationRun
from models_registry.models import SpendingDay
from models_registry.providers import FailureCode
from tests import make
from tests.arena_site.operations.alerts.promql import Expression, Sample, Scrape, evaluate, parse
from tests.turn_steps import store_answer

EVERY_S = 30
LONG_ENOUGH = timedelta(minutes=25)
_UNITS = {"s": 1, "m": 60}
GROWING = ("_total", "_bucket", "_sum", "_count")


class Rule(NamedTuple):
    name: str
    expression: Expression
    for_s: int


def rules() -> list[Rule]:
    (group,) = yaml.safe_load((site_settings.BASE_DIR / "deploy/alerts.yml").read_text())["groups"]
    return [
        Rule(rule["alert"], parse(rule["expr"]), int(rule.get("for", "0s")[:-1]) * _UNITS[rule.get("for", "0s")[-1]])
        for rule in group["rules"]
    ]


def scrape(client: Client) -> list[Sample]:
    """Return the samples of /metrics, as Prometheus stores them with its own `up`."""
    metrics._page.invalidate()
    slow.slow_figures.invalidate()
    counters.flush()
    response = client.get("/metrics")
    families = text_string_to_metric_families(response.text)
    samples = [Sample(found.name, dict(found.labels), found.value) for family in families for found in family.samples]
    return [*samples, Sample("up", {"job": "arena"}, float(response.status_code == 200))]


def timeline(before: list[Sample], after: list[Sample]) -> list[Scrape]:
    """Return scrapes until now: counters grow in each as from `before` to `after`, the others stay."""
    earlier = {(sample.name, *sorted(sample.labels.items())): sample.value for sample in before}
    now = time.time()
    steps = int(LONG_ENOUGH.total_seconds() / EVERY_S)

    def value(sample: Sample, step: int) -> float:
        if not sample.name.endswith(GROWING):
            return sample.value
        grown = sample.value - earlier.get((sample.name, *sorted(sample.labels.items())), 0)
        return sample.value + step * grown

    return [
        Scrape(now - (steps - step) * EVERY_S, [sample._replace(value=value(sample, step)) for sample in after])
        for step in range(steps + 1)
    ]


def firing(scrapes: list[Scrape]) -> list[str]:
    """Return the alerts whose condition held for their time."""
    return [rule.name for rule in rules() if _holds(rule, scrapes)]


def _holds(rule: Rule, scrapes: list[Scrape]) -> bool:
    now = scrapes[-1].at
    times = [scrape.at for scrape in scrapes if scrape.at >= now - rule.for_s]
    held = [set(result) for at in times if isinstance(result := evaluate(rule.expression, scrapes, at), dict)]
    return bool(held) and bool(set.intersection(*held))


@pytest.fixture(autouse=True)
def _budget_and_no_counts(settings: Any) -> None:
    counters._pending.clear()
    counters._gauges.clear()
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": 50}


def start() -> None:
    for name in heartbeat.EXPECTED:
        connection().set(f"heartbeat:{name}", "alive")
    audit.record(None, BACKUP, "database and uploads")


def answer_battle(right: CallResult) -> None:
    ada, bob = make.model(), make.model(at=f"http://127.0.0.1:9/{make.model().slug}/v1")
    turn = make.battle(ada, bob, actor=make.member()).turns.get()
    [(claimed, calls)] = turn_store.claim_and_start([turn.pk])
    for call in calls or []:
        store_answer(claimed, call, right if call.side == "right" else CallResult(texts=["one"], first_token_ms=200))


def kill_a_model(client: Client, patch: pytest.MonkeyPatch) -> None:
    answer_battle(CallResult(error=FailureCode.RATE_LIMITED, retry_after=600))


def queue_a_turn_without_a_worker(client: Client, patch: pytest.MonkeyPatch) -> None:
    long_ago = timezone.now() - timedelta(minutes=2)
    battle = make.battle(make.model(), make.model())
    Turn.objects.filter(battle=battle).update(created_at=long_ago, queued_at=long_ago)


def fill_the_disk(client: Client, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shutil, "disk_usage", lambda _: (10**12, 99 * 10**10, 10**10))


def let_the_backup_grow_old(client: Client, patch: pytest.MonkeyPatch) -> None:
    long_ago = timezone.now() - timedelta(days=8)
    patch.setattr(facts, "last_times_of", lambda *_: {BACKUP: long_ago})


def silence_a_process(client: Client, patch: pytest.MonkeyPatch) -> None:
    connection().delete("heartbeat:worker-answers")


def take_the_database(client: Client, patch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("gone")

    patch.setattr(facts, "queue", away)


def take_valkey(client: Client, patch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise redis.ConnectionError("gone")

    patch.setattr(counters, "read", away)


def leave_boards_uncomputed(client: Client, patch: pytest.MonkeyPatch) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    AggregationRun.objects.create(
        slot="long ago", scope=OVERALL, state=AggregationRun.State.UNCHANGED, duration_ms=1, started_at=long_ago,
        finished_at=long_ago,
    )  # fmt: skip


def spend_the_budget(client: Client, patch: pytest.MonkeyPatch) -> None:
    SpendingDay.objects.create(day=timezone.now().date(), account="site", spent=Decimal(44), reserved=Decimal(2))


def fail_requests(client: Client, patch: pytest.MonkeyPatch) -> None:
    counters.add("requests", "pages", "5xx", by=3)
    counters.add("requests", "pages", "2xx", by=7)


def fail_calls(client: Client, patch: pytest.MonkeyPatch) -> None:
    counters.add("ended_calls", "first_timeout", by=8)
    counters.add("ended_calls", "done", by=2)


def change(name: str, value: float) -> Callable[[list[Sample]], list[Sample]]:
    return lambda samples: [found._replace(value=value) if found.name == name else found for found in samples]


FAULTS = {
    "ModelDead": kill_a_model, "QueueStuck": queue_a_turn_without_a_worker, "DiskNearlyFull": fill_the_disk,
    "BackupOld": let_the_backup_grow_old, "ProcessSilent": silence_a_process, "RequestsFail": fail_requests,
    "SnapshotOverdue": leave_boards_uncomputed, "BudgetNearlySpent": spend_the_budget, "CallsFail": fail_calls,
}  # fmt: skip
# Faults that a test cannot cause beside others, in the samples instead.
IN_SAMPLES = {
    "ArenaAway": ("up", 0), "ValkeyEvicts": ("arena_valkey_evicted_keys_total", 5),
    "ConnectionsNearlyUsed": ("arena_database_connections", 1_000),
}  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("alert", FAULTS)
def test_alert_fires_with_its_fault_alone(
    alert: str, client: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
):
    start()
    with django_capture_on_commit_callbacks(execute=True):
        answer_battle(CallResult(texts=["two"], first_token_ms=300))
    before = scrape(client)
    assert firing(timeline(before, before)) == []
    with django_capture_on_commit_callbacks(execute=True):
        FAULTS[alert](client, monkeypatch)
    assert firing(timeline(before, scrape(client))) == [alert]


@pytest.mark.django_db
@pytest.mark.parametrize("take", [take_the_database, take_valkey])
def test_service_away_fires_also_without_its_figures(take: Any, client: Client, monkeypatch: pytest.MonkeyPatch):
    start()
    before = scrape(client)
    take(client, monkeypatch)
    assert firing(timeline(before, scrape(client))) == ["ServiceAway"]


@pytest.mark.django_db
def test_faults_of_prometheus_and_services_fire(client: Client):
    start()
    before = scrape(client)
    for alert, (name, value) in IN_SAMPLES.items():
        assert firing(timeline(before, change(name, value)(before))) == [alert]
    assert {rule.name for rule in rules()} == {*FAULTS, *IN_SAMPLES, "ServiceAway"}


@pytest.mark.django_db
def test_arena_without_backup_by_command_is_not_warned(client: Client):
    for name in heartbeat.EXPECTED:
        connection().set(f"heartbeat:{name}", "alive")
    samples = scrape(client)
    assert firing(timeline(samples, samples)) == []
