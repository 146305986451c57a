import json
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import redis
import yaml
from django.conf import settings as site_settings
from django.db import OperationalError, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from arena_site.operations import facts, metrics
from battles.actions import cast_vote
from battles.models import Turn, Vote
from battles.worker import call_store, turn_store
from battles.worker.calls import CallResult
from common.valkey import counters
from models_registry.models import Breaker, SpendingDay, budgets
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.turn_steps import claim_turn
from tests.waiting import wait_for

Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture(autouse=True)
def _reset_counters() -> None:
    counters._pending.clear()
    counters._gauges.clear()
    metrics._page.invalidate()


def read(text: str) -> Samples:
    """Return samples by name and label values, ordered by label name."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def ask(client: Client, **options: Any) -> Samples:
    metrics._page.invalidate()
    response = client.get("/metrics", **options)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return read(response.text)


@pytest.mark.django_db(transaction=True)
def test_battle_appears_in_metrics(fake_provider: FakeProvider, reader: Reader, client: Client):
    for _ in range(2):
        make.model("honest", at=fake_provider.base_url)
    for _ in range(2):
        battle = reader.wait_until_answered(reader.start_battle())
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"})
    counters.flush()
    found = ask(client)
    assert found["arena_battles_today", ("blind", "open")] == 1
    assert found["arena_battles_today", ("blind", "voted")] == 1
    assert found["arena_votes_total", ()] == 1
    assert sum(number for (name, _), number in found.items() if name == "arena_calls_total") == 4
    first_tokens = [labels for name, labels in found if name == "arena_first_token_seconds_count"]
    assert sum(found["arena_first_token_seconds_count", labels] for labels in first_tokens) == 4
    assert found["arena_requests_total", ("api", "2xx")] >= 5
    assert found["arena_requests_total", ("streams", "2xx")] == 2
    assert (
        found["arena_request_duration_seconds_bucket", ("api", "+Inf")]
        == found["arena_request_duration_seconds_count", ("api",)]
    )
    assert found["arena_streams", ()] == 0
    assert found["arena_up", ("postgresql",)] == found["arena_up", ("valkey",)] == 1


@pytest.mark.django_db(transaction=True)
def test_call_stored_twice_is_counted_once(fake_provider: FakeProvider):
    turn = make.battle(*(make.model("honest", at=fake_provider.base_url) for _ in range(2))).turns.get()
    claimed = claim_turn(turn.pk)
    assert claimed is not None
    [call, _] = turn_store.begin_calls(claimed)
    with suppress(OperationalError), transaction.atomic():
        call_store.store_result(call, CallResult(texts=["one"]))
        raise OperationalError
    with transaction.atomic():
        call_store.store_result(call, CallResult(texts=["one"]))
    assert [number for name, number in counters._pending.items() if name.startswith("calls")] == [1]


def open_streams(client: Client) -> float:
    counters.flush()
    return ask(client)["arena_streams", ()]


@pytest.mark.django_db(transaction=True)
def test_open_stream_is_counted_until_reader_leaves(fake_provider: FakeProvider, reader: Reader, client: Client):
    for _ in range(2):
        make.model("hang-after-1", at=fake_provider.base_url)
    battle = reader.start_battle()
    following = reader.follow(battle["stream_url"])
    next(following)
    assert open_streams(client) == 1
    following.close()
    reader.api("POST", f"battles/{battle['id']}/stop/")
    reader.wait_until_answered(reader.battle(battle["id"]))
    wait_for(lambda: open_streams(client) == 0)


@pytest.mark.django_db
def test_queue_cost_and_breakers_are_in_metrics(client: Client, settings: Any):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": 50}
    one, two = make.model(), make.model()
    for age in (20, 100):
        battle = make.battle(one, two)
        since = timezone.now() - timedelta(seconds=age)
        Turn.objects.filter(battle=battle).update(created_at=since, queued_at=since)
    SpendingDay.objects.create(day=timezone.now().date(), account="site", spent="1.5", reserved="0.25")
    Breaker.objects.create(model=one, opened_at=timezone.now(), probe_at=timezone.now(), reason="cut")
    found = ask(client)
    assert found["arena_turns", ("waiting",)] == 2
    assert found["arena_turns", ("stuck",)] == 1
    assert 100 <= found["arena_queue_age_seconds", ()] < 160
    assert found["arena_cost_today_dollars", ("", "spent")] == 1.5
    assert found["arena_cost_today_dollars", ("", "reserved")] == 0.25
    assert found["arena_budget_dollars", ("",)] == 50
    assert found["arena_breaker_open", ("model", one.slug)] == 1


@pytest.mark.django_db
def test_metrics_query_count_is_fixed(
    client: Client, django_assert_num_queries: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(metrics._page, "ttl_s", 3600)
    models = [make.model() for _ in range(2)]
    budgets.chosen()  # cached for seconds
    for number in (1, 8):
        for _ in range(number):
            make.battle(*models)
        metrics._page.invalidate()
        with django_assert_num_queries(19):
            client.get("/metrics")
    with django_assert_num_queries(0):  # a moment later
        client.get("/metrics")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("10.1.2.3", {}, 404),
        ("198.51.100.7", {}, 404),
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 404),  # an untrusted proxy
        ("198.51.100.7", {"Authorization": "Bearer monitoring-token"}, 200),
        ("198.51.100.7", {"Authorization": "Bearer another-token"}, 404),
    ],
)
def test_metrics_need_network_or_token(
    client: Client, settings: Any, address: str, headers: dict[str, str], status: int
):
    settings.ARENA_METRICS_TOKEN = "monitoring-token"
    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


@pytest.mark.django_db
def test_metrics_check_client_behind_trusted_proxy(client: Client, settings: Any):
    settings.ARENA_TRUSTED_PROXIES = ["10.0.0.0/8"]
    settings.ARENA_METRICS_NETWORKS = ["10.0.0.0/8", "192.0.2.0/24"]
    expected = {"198.51.100.7": 404, "192.0.2.9": 200}
    for visitor, status in expected.items():
        response = client.get("/metrics", headers={"X-Forwarded-For": visitor}, REMOTE_ADDR="10.0.0.1")
        assert response.status_code == status


@pytest.mark.django_db
def test_empty_metrics_token_opens_nothing(client: Client, settings: Any):
    settings.ARENA_METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"Authorization": "Bearer "}, REMOTE_ADDR="8.8.8.8").status_code == 404


@pytest.mark.django_db
def test_other_metrics_remain_without_valkey(client: Client, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(counters, "read", away)
    found = ask(client)
    assert (found["arena_up", ("valkey",)], found["arena_up", ("postgresql",)]) == (0, 1)
    assert ("arena_votes_total", ()) in found


@pytest.mark.django_db
def test_other_metrics_remain_without_database(client: Client, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(facts, "queue", away)
    found = ask(client)
    assert (found["arena_up", ("valkey",)], found["arena_up", ("postgresql",)]) == (1, 0)
    assert ("arena_streams", ()) in found


def metric_names() -> set[str]:
    """Return the names of all families, also without samples."""
    names = set()
    for family in metrics.ArenaCollector().collect():
        names |= {
            "counter": {f"{family.name}_total"},
            "histogram": {f"{family.name}_{part}" for part in ("bucket", "sum", "count")},
        }.get(family.type, {family.name})
    return names


@pytest.mark.django_db
def test_grafana_queries_existing_metrics():
    deploy = site_settings.BASE_DIR / "deploy"
    board = json.loads((deploy / "grafana/dashboards/arena.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert set(re.findall(r"\barena_\w+", " ".join(queries))) <= metric_names()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    (source,) = yaml.safe_load((deploy / "grafana/datasources/prometheus.yml").read_text())["datasources"]
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {source["uid"]}


def test_prometheus_scrapes_metrics_url():
    deploy = site_settings.BASE_DIR
    (job,) = yaml.safe_load((deploy / "deploy/prometheus.yml").read_text())["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    services = yaml.safe_load((deploy / "docker-compose.yml").read_text())["services"]
    assert {target.split(":")[0] for static in job["static_configs"] for target in static["targets"]} <= set(services)
    assert "respond /metrics 404" in (deploy / "deploy/Caddyfile").read_text()
    assert services["web"]["environment"]["ARENA_HOSTS"].endswith(",web")


@pytest.mark.django_db
def test_total_votes_equals_numbered_votes(client: Client):
    for _ in range(3):
        actor = make.visitor()
        battle = make.answered_battle(make.model(), make.model(), actor=actor)
        cast_vote(battle=battle, choice=Vote.Choice.TIE, actor=actor)
    assert ask(client)["arena_votes_total", ()] == Vote.objects.count() == 3
