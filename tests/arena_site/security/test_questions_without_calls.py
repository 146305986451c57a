"""Questions that start no call have one answer, whichever model failed, was paid or went away in a blind battle."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from battles.calls.values import CallResult
from battles.models import Battle
from battles.worker import turn_store
from common.valkey import heartbeat
from common.valkey.connections import connection
from models_registry import breaker_rule, drawable_cache
from models_registry.health import reachability
from models_registry.models import LanguageModel, SpendingDay
from models_registry.models.ledger import SITE, provider_account
from models_registry.providers import FailureCode
from models_registry.versions import set_price
from routing.deciding.call_medians import CallMedians, call_medians
from routing.models import Rule
from tests import make
from tests.routing import trained
from tests.turn_steps import store_answer

pytestmark = pytest.mark.django_db

NAMES = ("ada", "bob", "cyd", "dee")
USER = {"role": "user", "content": "Name three rivers."}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "12"}
PROMPT = {"prompt": "Name three rivers."}

POOLS: list[list[str]] = [[], *([name] for name in NAMES), ["ada", "dee"], list(NAMES)]
ROUTE_OPTIONS: list[dict[str, Any]] = [
    PROMPT,
    PROMPT | {"dial": "cheap"},
    PROMPT | {"dial": "best"},
    PROMPT | {"max_cost": "0.0001"},
    PROMPT | {"max_cost": "0.01"},
    PROMPT | {"max_first_token_ms": 250},
    PROMPT | {"context": {"tools": True}},
    PROMPT | {"context": {"data_loaded": True}},
    {"prompt": "a" * 19_000},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, PICTURE]}]},
    {"messages": [USER, CALL, RESULT]},
]
PAGES = ["/", *(f"/?mode={mode}" for mode in ("auto", "direct", "side_by_side", "compare")), "/models/", "/readyz"]
CALLS = ["/api/v1/models/?drawable=true", "/v1/models", *(f"/v1/models/{name}" for name in NAMES)]
REFUSED_STARTS: list[dict[str, Any]] = [
    {"mode": "direct", "models": ["unknown"]},
    {"mode": "auto", "max_cost": "0.00000001"},
    {"filters": {"max_size_b": 2}},
    *({"mode": "compare", "models": [name]} for name in NAMES),
]
STARTS: list[dict[str, Any]] = [
    {},
    *({"mode": "auto", "models": pool} for pool in POOLS),
    *({"mode": mode, "models": [name]} for mode in ("direct", "side_by_side") for name in NAMES),
    {"mode": "compare", "models": ["ada", "dee"]},
    {"filters": {"max_size_b": 3}},
]

Answers = dict[str, tuple[int, str]]


@pytest.fixture(autouse=True)
def _arena(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": Decimal(50)}
    monkeypatch.setattr(breaker_rule, "FAILURES_IN_A_ROW", 1)
    for process in heartbeat.EXPECTED:  # /readyz counts models when all processes are alive
        connection().set(f"heartbeat:{process}", "alive")
    for number, name in enumerate(NAMES, 1):
        abilities = ["images", "tools"] if number % 2 else []
        model = make.model(
            slug=name, name=name.title(), at=f"http://127.0.0.1:9/{name}/v1", size_b=number, abilities=abilities,
            context_length=8_000 * number, weight=number,
        )  # fmt: skip
        set_price(model, Decimal(number), Decimal(number))
        type(model.provider).objects.filter(pk=model.provider_id).update(daily_budget=Decimal(10 * number))
    Rule.objects.create(target="model", model=models()["dee"], data_loaded="yes", is_active=True)
    call_medians._store(CallMedians({}, {model.pk: 100 * (n + 1) for n, model in enumerate(models().values())}))


@pytest.fixture
def _learned(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked = list(models().values())
    trained.hold(monkeypatch, {model: float(n) for n, model in enumerate(ranked)}, ranking=ranked[::-1])


def models() -> dict[str, LanguageModel]:
    rows = LanguageModel.objects.filter(slug__in=NAMES).select_related("provider").order_by("pk")
    return {model.slug: model for model in rows}


def one_side_fails(slug: str, failure: CallResult) -> None:
    """Let the side of the model fail in a blind battle."""
    other = "bob" if slug != "bob" else "cyd"
    battle = make.battle(models()[other], models()[slug])
    [(claimed, calls)] = turn_store.claim_and_start([battle.turns.get().pk])
    assert calls is not None
    for call in calls:
        is_failing = call.row.model.slug == slug
        store_answer(claimed, call, failure if is_failing else CallResult(texts=["An answer."], total_ms=5))


def model_is_paused(slug: str) -> None:
    one_side_fails(slug, CallResult(error=FailureCode.RATE_LIMITED, retry_after=600, total_ms=5))


def provider_is_unreachable(slug: str) -> None:
    one_side_fails(slug, CallResult(error=FailureCode.UNREACHABLE, total_ms=5))


def server_is_away(slug: str) -> None:
    reachability._store(models()[slug].provider, is_answering=False)


def provider_spent_its_budget(slug: str) -> None:
    spend(provider_account(models()[slug].provider_id))


def site_spent_its_budget(_slug: str) -> None:
    spend(SITE)


def spend(account: str) -> None:
    SpendingDay.objects.create(day=timezone.now().date(), account=account, spent=Decimal(1_000), reserved=0)


FAILURES = [model_is_paused, provider_is_unreachable, server_is_away]
Event = Callable[[str], None]


def all_fails(slug: str) -> None:
    for event in FAILURES:
        event(slug)


def all_is_spent(slug: str) -> None:
    provider_spent_its_budget(slug)
    site_spent_its_budget(slug)


EVENTS = [all_fails, all_is_spent]


@contextmanager
def world(event: Event | None = None, slug: str = "ada") -> Iterator[None]:
    """Roll everything back at the end."""
    with transaction.atomic():
        if event is not None:
            event(slug)
            drawable_cache.cached_roster.invalidate()
            assert slug not in [model.slug for model in LanguageModel.objects.drawable()]
        drawable_cache.cached_roster.invalidate()
        yield
        transaction.set_rollback(True)
    drawable_cache.cached_roster.invalidate()


def stranger() -> Client:
    return Client(REMOTE_ADDR="203.0.113.7")


def member() -> Client:
    return make.browser(make.member(), REMOTE_ADDR="203.0.113.7")


def program() -> Client:
    return program_of(make.member())


def program_of(actor: Actor) -> Client:
    return make.api(actor.user, REMOTE_ADDR="203.0.113.7")


ASKERS = [stranger, member, program]


def post(client: Client, path: str, body: dict[str, Any]) -> tuple[int, str]:
    response = client.post(path, json.dumps(body), content_type="application/json")
    return response.status_code, re.sub(r'("decision":\s*)"[^"]+"', r"\1null", response.content.decode())


def get(client: Client, path: str) -> tuple[int, str]:
    response = client.get(path)
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', r"\1", response.content.decode())
    return response.status_code, re.sub(r"(X-CSRFToken[^:]*:\s*)[^}]+}", r"\1", text)


def routes(client: Client, pools: list[list[str]]) -> Answers:
    return {
        f"route {pool} {number}": post(client, "/api/v1/route/", options | {"models": pool})
        for pool in pools
        for number, options in enumerate(ROUTE_OPTIONS)
    }


def everything(client: Client) -> Answers:
    has_token = "HTTP_AUTHORIZATION" in client.defaults
    answers = routes(client, POOLS if has_token else POOLS[:2])
    for body in REFUSED_STARTS:
        answers[f"start {body}"] = post(client, "/api/v1/sessions/", PROMPT | body)
    return answers | {path: get(client, path) for path in (CALLS if has_token else PAGES + CALLS[:1])}


def differences(one: Answers, other: Answers) -> dict[str, tuple[tuple[int, str], tuple[int, str]]]:
    assert one.keys() == other.keys()
    return {question: (one[question], other[question]) for question in one if one[question] != other[question]}


@pytest.mark.slow
@pytest.mark.parametrize("asker", ASKERS, ids=lambda asker: asker.__name__)
def test_question_without_a_call_shows_no_live_state(asker: Callable[[], Client]):
    client = asker()
    with world():
        calm = everything(client)
    for event in EVENTS:
        with world(event):
            assert differences(calm, everything(client)) == {}
    assert {status for status, _ in calm.values()} >= {200, 400}


@pytest.mark.slow
@pytest.mark.usefixtures("_learned")
def test_learned_decision_shows_no_live_state():
    client = program()
    with world():
        calm = routes(client, POOLS[:1])
    for event in EVENTS:
        with world(event, "dee"):  # the best
            assert differences(calm, routes(client, POOLS[:1])) == {}


def test_refusal_for_own_budget_ignores_other_budgets(settings: Any):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": Decimal("0.0001")}
    client = program()
    with world():
        calm = post(client, "/api/v1/sessions/", PROMPT)
    with world(provider_spent_its_budget, "dee"):  # the dearest
        assert post(client, "/api/v1/sessions/", PROMPT) == calm
    assert calm[0] == 429


def started(client: Client, body: dict[str, Any]) -> tuple[int, Any]:
    """Return the status, and of a started battle what is shown of its decision."""
    status, text = post(client, "/api/v1/sessions/", PROMPT | body)
    return status, json.loads(text)["battles"][0]["decision"] if status == 201 else text


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.__name__)
def test_start_is_decided_without_health(failure: Event):
    client = program()
    with world():
        calm = [started(client, body) for body in STARTS]
    with world(failure, "dee"):
        assert [started(client, body) for body in STARTS] == calm
    assert {status for status, _ in calm} == {201}


@pytest.mark.slow
def test_start_is_not_refused_while_all_fail():
    client = program()
    with world(model_is_paused, "ada"):
        for name in NAMES[1:]:
            model_is_paused(name)
        drawable_cache.cached_roster.invalidate()
        assert [started(client, body)[0] for body in STARTS] == [201] * len(STARTS)


@pytest.mark.slow
@pytest.mark.usefixtures("_learned")
def test_200_questions_do_not_name_the_failed_model():
    """Two worlds with equal answers leave an adversary, adaptive or not, with chance."""
    random, client = Random(35), program()
    questions = [
        random.choice(ROUTE_OPTIONS)
        | {"models": random.sample(NAMES, random.randint(0, 4)), "dial": random.choice([0, 0.3, 0.7, 1])}
        for _ in range(200)
    ]
    heard = []
    for failed in ("ada", "dee"):
        with world(all_fails, failed):
            heard.append([post(client, "/api/v1/route/", question) for question in questions])
            assert Battle.objects.filter(vote=None, mode="blind").exists()
    assert heard[0] == heard[1]
    assert len(set(heard[0])) > 20
