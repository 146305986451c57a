import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import redis
import yaml
from django.conf import settings as site_settings
from django.db import OperationalError, transaction
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.actor import Actor
from arena_site.operations import facts, metrics
from arena_site.operations.series import slow
from battles.actions import cast_vote
from battles.calls import store as call_store
from battles.calls.values import CallResult
from battles.models import Answer, Battle, Call, Turn, Vote
from battles.worker import turn_store
from battles.worker.runner import Engine
from common.valkey import counters
from leaderboard.counting.new_votes import count_of_site
from models_registry.models import Breaker, SpendingDay, budgets
from models_registry.providers import FailureCode
from models_registry.versions import set_price
from reviews.second_opinions.queries import site_agreement
from tests import make
from tests.fake_provider import FakeProvider
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.leaderboard.vote_factory import cast_many, contestants
from tests.site import Reader
from tests.turn_steps import claim_turn, store_answer
from tests.waiting import wait_for

Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture(autouse=True)
def _reset_counters() -> None:
    counters._pending.clear()
    counters._gauges.clear()


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
    samples = ask(client)
    assert samples["arena_battles_today", ("blind", "open")] == 1
    assert samples["arena_battles_today", ("blind", "voted")] == 1
    assert samples["arena_votes_total", ("yes",)] == 1
    assert samples["arena_ended_calls_total", ("done",)] == 4
    assert samples["arena_any_first_token_seconds_count", ()] == 4
    assert samples["arena_requests_total", ("api", "2xx")] >= 5
    assert samples["arena_requests_total", ("streams", "2xx")] == 2
    assert (
        samples["arena_request_duration_seconds_bucket", ("api", "+Inf")]
        == samples["arena_request_duration_seconds_count", ("api",)]
    )
    assert samples["arena_streams", ()] == 0
    assert samples["arena_spans_dropped_total", ()] == 0
    assert samples["arena_up", ("postgresql",)] == samples["arena_up", ("valkey",)] == 1


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
    assert [number for name, number in counters._pending.items() if name.startswith("ended_calls")] == [1]


def answer(turn: Turn, *, right: CallResult) -> None:
    [(claimed, calls)] = turn_store.claim_and_start([turn.pk])
    for call in calls or []:
        left = CallResult(texts=["one"], first_token_ms=200, total_ms=900)
        store_answer(claimed, call, right if call.side == "right" else left)


def by_model(client: Client) -> Samples:
    counters.flush()
    return {
        (name, labels): number
        for (name, labels), number in ask(client).items()
        if name in ("arena_calls_total", "arena_first_token_seconds_count")
    }


@pytest.fixture
def blind_battle() -> Battle:
    """Two whole answers, and a follow-up in which the right side failed and its breaker opened."""
    ada, bob = (make.model(slug=name, name=name, at=f"http://127.0.0.1:9/{name}/v1") for name in ("ada", "bob"))
    set_price(ada, Decimal(1), Decimal(1)), set_price(bob, Decimal(1), Decimal(1))
    battle = make.battle(ada, bob, actor=make.member())
    answer(battle.turns.get(), right=CallResult(texts=["two"], first_token_ms=300))
    answer(make.turn(battle), right=CallResult(error=FailureCode.RATE_LIMITED, retry_after=600))
    return battle


@pytest.mark.django_db(transaction=True)
def test_models_of_blind_battle_are_not_in_metrics(blind_battle: Battle, client: Client):
    counters.flush()
    metrics._page.invalidate()
    text = client.get("/metrics").text
    samples = read(text)
    assert not re.search(r"ada|bob|Fake", text)
    assert samples["arena_ended_calls_total", ("done",)] == 3
    assert samples["arena_ended_calls_total", ("rate_limited",)] == 1
    assert (samples["arena_breaker_open", ("model",)], samples["arena_breaker_open", ("provider",)]) == (1, 0)
    assert samples["arena_cost_today_dollars", ("", "spent")] > 0


@pytest.mark.django_db(transaction=True)
def test_snapshot_after_vote_reveals_calls_once(blind_battle: Battle, client: Client):
    owner = Actor(user=blind_battle.session.owner_user, network="")
    cast_vote(battle=blind_battle, choice=Vote.Choice.TIE, actor=owner)
    assert by_model(client) == {}
    revealed = {
        ("arena_calls_total", ("ada", "done")): 2, ("arena_calls_total", ("bob", "done")): 1,
        ("arena_calls_total", ("bob", "rate_limited")): 1, ("arena_first_token_seconds_count", ("ada",)): 2,
        ("arena_first_token_seconds_count", ("bob",)): 1,
    }  # fmt: skip
    aggregate()
    assert by_model(client) == revealed
    answer(make.turn(blind_battle), right=CallResult(texts=["two"]))  # a follow-up after the vote
    assert by_model(client) == revealed
    for _ in range(2):
        aggregate()
    revealed[("arena_calls_total", ("ada", "done"))] += 1
    revealed[("arena_calls_total", ("bob", "done"))] += 1
    revealed[("arena_first_token_seconds_count", ("ada",))] += 1
    assert by_model(client) == revealed
    samples = ask(client)
    assert samples["arena_answer_seconds_count", ("ada",)] == 3
    costs = Call.objects.filter(cost__gt=0).values_list("cost", flat=True)
    assert samples["arena_cost_dollars_total", ("Fake",)] == pytest.approx(float(sum(costs)))


@pytest.mark.django_db(transaction=True)
def test_void_battle_is_revealed_by_next_snapshot(client: Client):
    battle = make.battle(make.model(slug="ada"), make.model(slug="bob"), actor=make.member())
    answer(battle.turns.get(), right=CallResult(error=FailureCode.RATE_LIMITED, retry_after=600))
    assert by_model(client) == {}
    aggregate()
    assert by_model(client)["arena_calls_total", ("bob", "rate_limited")] == 1


@pytest.mark.django_db(transaction=True)
def test_open_chat_counts_at_once_and_probe_never(client: Client, engine: Engine):
    ada = make.model(slug="ada")
    battle = make.battle(ada, make.model(slug="bob"))
    Battle.objects.filter(pk=battle.pk).update(mode=Battle.Mode.SIDE_BY_SIDE)
    answer(battle.turns.get(), right=CallResult(texts=["two"]))
    counted = by_model(client)
    assert counted["arena_calls_total", ("ada", "done")] == 1
    breaker = Breaker.objects.create(model=ada, opened_at=timezone.now(), probe_at=timezone.now())
    engine.probe(breaker.pk)
    assert Call.objects.get(purpose=Call.Purpose.PROBE).state == Call.State.FAILED
    assert by_model(client) == counted


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
    samples = ask(client)
    assert samples["arena_turns", ("waiting",)] == 2
    assert samples["arena_turns", ("stuck",)] == 1
    assert 100 <= samples["arena_queue_age_seconds", ()] < 160
    assert samples["arena_cost_today_dollars", ("", "spent")] == 1.5
    assert samples["arena_cost_today_dollars", ("", "reserved")] == 0.25
    assert samples["arena_budget_dollars", ("",)] == 50
    assert samples["arena_breaker_open", ("model",)] == 1


@pytest.mark.django_db
def test_breakers_of_models_out_of_use_are_not_open(client: Client):
    """No probe closes them, so that the alert would never end."""
    used, paused = make.model(), make.model(status="paused", at="http://127.0.0.1:9/paused/v1")
    with_two = make.model(at="http://127.0.0.1:9/two/v1")
    make.model(provider=with_two.provider)
    for which in ({"model": used}, {"model": paused}, {"provider": with_two.provider}, {"provider": paused.provider}):
        Breaker.objects.create(**which, opened_at=timezone.now(), probe_at=timezone.now(), reason="cut")
    samples = ask(client)
    assert samples["arena_breaker_open", ("model",)] == 1
    assert samples["arena_breaker_open", ("provider",)] == 1


@pytest.mark.django_db
def test_metrics_query_count_is_fixed(client: Client, django_assert_num_queries: Callable):
    models = [make.model() for _ in range(2)]
    budgets.chosen()  # cached for seconds
    site_agreement(), slow.slow_figures()  # cached for minutes
    for number in (1, 8):
        for _ in range(number):
            make.battle(*models)
        metrics._page.invalidate()
        with django_assert_num_queries(21):
            client.get("/metrics")
    with django_assert_num_queries(0):  # a moment later
        client.get("/metrics")


@pytest.mark.django_db
def test_other_metrics_remain_without_valkey(client: Client, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(counters, "read", away)
    samples = ask(client)
    assert (samples["arena_up", ("valkey",)], samples["arena_up", ("postgresql",)]) == (0, 1)
    assert ("arena_votes_ever", ()) in samples


@pytest.mark.django_db
def test_other_metrics_remain_without_database(client: Client, monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(facts, "queue", away)
    samples = ask(client)
    assert (samples["arena_up", ("valkey",)], samples["arena_up", ("postgresql",)]) == (1, 0)
    assert ("arena_streams", ()) in samples


def test_prometheus_scrapes_metrics_url():
    deploy = site_settings.BASE_DIR
    (job,) = yaml.safe_load((deploy / "deploy/prometheus.yml").read_text())["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    services = yaml.safe_load((deploy / "docker-compose.yml").read_text())["services"]
    assert {target.split(":")[0] for static in job["static_configs"] for target in static["targets"]} <= set(services)
    assert "respond /metrics 404" in (deploy / "deploy/Caddyfile").read_text()
    assert services["web"]["environment"]["ARENA_HOSTS"].endswith(",web")
    assert not {"ARENA_METRICS_NETWORKS", "ARENA_METRICS_TOKEN"} & set(services["web"]["environment"])  # of .env
    assert job["authorization"]["credentials_file"] in services["prometheus"]["command"][0]
    assert "ARENA_METRICS_TOKEN" in services["prometheus"]["environment"]


@pytest.mark.django_db
def test_total_votes_equals_numbered_votes(client: Client):
    for _ in range(3):
        actor = make.visitor()
        battle = make.answered_battle(make.model(), make.model(), actor=actor)
        cast_vote(battle=battle, choice=Vote.Choice.TIE, actor=actor)
    assert ask(client)["arena_votes_ever", ()] == Vote.objects.count() == 3


@pytest.mark.django_db
def test_vote_excluded_as_cast_is_told_apart(client: Client, django_capture_on_commit_callbacks: Any):
    for stopped in (False, True):
        actor = make.visitor()
        battle = make.answered_battle(make.model(), make.model(), actor=actor)
        if stopped:
            Answer.objects.filter(turn__battle=battle).update(state=Answer.State.STOPPED)
        with django_capture_on_commit_callbacks(execute=True):
            cast_vote(battle=Battle.objects.get(pk=battle.pk), choice=Vote.Choice.TIE, actor=actor)
    counters.flush()
    slow.slow_figures.invalidate()
    samples = ask(client)
    assert (samples["arena_votes_total", ("yes",)], samples["arena_votes_total", ("no",)]) == (1, 1)
    assert samples["arena_votes_excluded", ("incomplete",)] == 1


@pytest.mark.django_db
def test_active_people_are_counted_by_period():
    one, two = make.member(), make.visitor()
    for actor, days in ((one, 0), (one, 6), (two, 6), (make.member(), 27), (make.member(), 28)):
        battle = make.battle(make.model(), make.model(), actor=actor)
        Battle.objects.filter(pk=battle.pk).update(created_at=timezone.now() - timedelta(days=days))
    assert slow.read_slow_figures().active_people == {1: 1, 7: 2, 28: 3}


@pytest.mark.django_db
def test_services_and_processes_are_in_metrics(client: Client):
    assert counters.measure("web", 0) > 0
    counters.flush()
    samples = ask(client)
    for name in ("cpu_seconds_total", "memory_bytes"):
        assert samples[f"arena_process_{name}", ("web",)] > 0
    for name in (
        "disk_bytes", "disk_free_bytes", "database_bytes", "database_max_connections", "valkey_memory_bytes",
        "valkey_clients",
    ):  # fmt: skip
        assert samples[f"arena_{name}", ()] > 0
    assert sum(value for (name, _), value in samples.items() if name == "arena_database_connections") >= 1
    assert samples["arena_valkey_evicted_keys_total", ()] == 0


@pytest.mark.django_db
def test_gateway_requests_are_counted_by_status(client: Client):
    assert client.get("/v1/models").status_code == 401
    counters.flush()
    assert ask(client)["arena_gateway_requests_total", ("401",)] == 1


@pytest.mark.django_db
def test_votes_of_teams_alone_are_not_in_metrics():
    pair, team = contestants("a", "b"), make.team()
    cast_many(*pair, left=3)
    cast_in(team, pair, left=2)
    cast_in(team, pair, left=1, on_site=True)
    assert count_of_site() == 4
    aggregate()
    cast_in(team, pair, left=5)
    cast_many(*pair, left=1)
    assert count_of_site() == 5
