from collections.abc import Callable
from decimal import Decimal
from typing import Any

import openai
import pytest
from django.db.models.functions import Now
from openai import OpenAI

from battles.models import Call, RoutingDecision
from common.valkey.connections import connection
from gateway.models import Exchange
from models_registry.models import Breaker, LanguageModel
from models_registry.versions import set_price
from tests.fake_provider import FakeProvider
from tests.gateway.software import WEATHER, settled
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
HEAVIEST = "battles.auto.port.heaviest_weight"


@pytest.fixture(autouse=True)
def _router(settings: Any) -> None:
    settings.ARENA_ROUTER = HEAVIEST


@pytest.fixture
def learned(settings: Any) -> None:
    settings.ARENA_ROUTER = "routing.deciding.policy.decide"


def user(content: str) -> Any:
    return {"role": "user", "content": content}


def ask(client: OpenAI, *messages: Any, **fields: Any) -> Any:
    options: dict[str, Any] = {"model": "auto", "messages": list(messages), **fields}
    return client.chat.completions.with_raw_response.create(**options)


def test_auto_names_its_decision(client: OpenAI, model: Callable[..., Any]):
    model(weight=1)
    heavy = model(weight=2).slug
    raw = ask(client, user("one two three"))
    decision = RoutingDecision.objects.get()
    assert (raw.parse().model, raw.headers["X-Arena-Model"]) == (heavy, heavy)
    assert raw.headers["X-Arena-Decision"] == decision.public_id
    assert raw.headers["X-Arena-Reason"].startswith("weights: Chosen because the arena's operator")
    exchange = Exchange.objects.get()
    assert (exchange.asked_model, exchange.decision, exchange.call.model.slug) == ("auto", decision, heavy)
    assert decision.token == exchange.token


@pytest.mark.usefixtures("learned")
def test_every_auto_model_answers(client: OpenAI, model: Callable[..., Any]):
    model(), model()
    for name in ("auto", "auto-cheap", "auto-best", "auto-fast"):
        assert ask(client, user("one two three"), model=name).parse().choices[0].message.content == "one two three "
    assert set(RoutingDecision.objects.values_list("dial", flat=True)) == {0.2, 0.5, 1.0}


def test_failing_model_is_replaced(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    model("status-500", weight=3), model("cut-after-0", weight=2)
    good = model("honest").slug
    for is_stream in (False, True):
        raw = ask(client, user("one two"), stream=is_stream)
        assert raw.headers["X-Arena-Fallback"] == "1"
        assert raw.headers["X-Arena-Model"] == good
        assert raw.headers["X-Arena-Reason"].startswith("fallback: The model that was chosen first did not answer")
        if is_stream:
            assert "".join(chunk.choices[0].delta.content or "" for chunk in raw.parse()) == "one two "
    wait_for(settled)
    assert list(Exchange.objects.values_list("fallbacks", "call__model__slug", "decision__target")) == [
        (2, good, "fallback"), (2, good, "fallback"),
    ]  # fmt: skip
    assert fake_provider.calls["honest"] == 2


def test_healthy_models_take_over_first(client: OpenAI, model: Callable[..., Any]):
    model("status-500", weight=5)
    for weight in (4, 3):
        Breaker.objects.create(model=model("status-500", weight=weight), opened_at=Now(), probe_at=Now())
    good = model("honest").slug
    raw = ask(client, user("one two"))
    assert (raw.headers["X-Arena-Model"], raw.headers["X-Arena-Fallback"]) == (good, "1")
    assert Call.objects.count() == 2


@pytest.mark.usefixtures("learned")
def test_free_model_takes_over_from_all_paid(client: OpenAI, model: Callable[..., Any], settings: Any):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": Decimal(0)}
    for weight in range(2, 20):
        set_price(model(weight=weight), Decimal(1), Decimal(1))
    free = model().slug
    raw = ask(client, user("one two"), model="auto-best")
    assert (raw.headers["X-Arena-Model"], raw.headers["X-Arena-Fallback"]) == (free, "1")


def test_fourth_model_is_not_tried(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    for weight in (4, 3, 2):
        model("html", weight=weight)
    model("honest")
    with pytest.raises(openai.InternalServerError) as failure:
        ask(client, user("one two"))
    assert (failure.value.status_code, failure.value.code) == (503, "models_failed")
    assert failure.value.response.headers["Retry-After"] == "5"
    assert fake_provider.calls == {"html": 3}


def test_nothing_is_sent_twice_after_the_first_byte(
    client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider
):
    model("cut-after-1", weight=2), model("honest")
    texts: list[str] = []
    with pytest.raises(openai.APIError):
        texts.extend(chunk.choices[0].delta.content or "" for chunk in ask(client, user("a b"), stream=True).parse())
    assert "".join(texts) == "a "
    assert fake_provider.calls == {"cut-after-1": 1}


def test_named_model_is_not_replaced(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    named = model("html").slug
    model("honest")
    with pytest.raises(openai.InternalServerError):
        ask(client, user("one two"), model=named)
    assert fake_provider.calls == {"html": 1}


@pytest.mark.usefixtures("learned")
def test_session_stays_with_its_model(client: OpenAI, model: Callable[..., Any]):
    slugs = {model().slug for _ in range(6)}
    messages = [user("Tell me about rivers.")]
    answered = []
    for turn in range(10):
        raw = ask(client, *messages)
        answered.append(raw.headers["X-Arena-Model"])
        messages += [{"role": "assistant", "content": raw.parse().choices[0].message.content}, user(f"And {turn}?")]
    assert len(set(answered)) == 1
    assert set(answered) <= slugs
    assert list(RoutingDecision.objects.order_by("pk").values_list("target", flat=True)) == ["model"] + ["stay"] * 9


@pytest.mark.usefixtures("learned")
def test_session_of_failed_model_moves_on(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    model("honest"), model("honest-too")
    first = ask(client, user("one"), extra_headers={"X-Arena-Session": "s-1"}).headers["X-Arena-Model"]
    LanguageModel.objects.filter(slug=first).update(upstream_name="status-500")
    [stays] = LanguageModel.objects.exclude(slug=first)
    stays.save()  # drops the cached models
    raw = ask(client, user("two"), extra_headers={"X-Arena-Session": "s-1"})
    assert raw.headers["X-Arena-Model"] == stays.slug
    again = ask(client, user("three"), extra_body={"metadata": {"session_id": "s-1"}})
    assert again.headers["X-Arena-Model"] == stays.slug


@pytest.mark.usefixtures("learned")
def test_tool_loop_never_changes_model(client: OpenAI, model: Callable[..., Any], fake_provider: FakeProvider):
    for _ in range(6):
        model("calls-tools", abilities=["tools"])
    messages = [user("How is the weather?")]
    raw = ask(client, *messages, tools=[WEATHER])
    caller = raw.headers["X-Arena-Model"]
    message = raw.parse().choices[0].message
    messages.append(message.to_dict())
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in message.tool_calls]
    for _ in range(3):
        raw = ask(client, *messages, tools=[WEATHER])
        assert (raw.headers["X-Arena-Model"], raw.headers["X-Arena-Reason"].partition(":")[0]) == (caller, "tools")
    LanguageModel.objects.update(upstream_name="status-500")
    LanguageModel.objects.get(slug=caller).save()
    fake_provider.forget()
    with pytest.raises(openai.InternalServerError):
        ask(client, *messages, tools=[WEATHER])
    assert fake_provider.calls["status-500"] <= 2  # the provider's one retry, no other model


@pytest.mark.usefixtures("learned")
def test_session_without_valkey_is_decided_anew(client: OpenAI, model: Callable[..., Any]):
    model(), model()
    ask(client, user("one"))
    connection().flushall()
    assert ask(client, user("one")).parse().choices[0].message.content == "one "


def test_no_model_for_tools_is_refused(client: OpenAI, model: Callable[..., Any]):
    model()
    with pytest.raises(openai.APIStatusError) as refusal:
        ask(client, user("one"), tools=[WEATHER])
    assert refusal.value.status_code in (400, 503)
    assert not Call.objects.exists()


@pytest.mark.usefixtures("learned")
def test_session_is_kept_for_each_asked_name(client: OpenAI, model: Callable[..., Any]):
    model(), model()
    for name in ("auto-cheap", "auto-best", "auto-cheap", "auto"):
        ask(client, user("Tell me about rivers."), model=name)
    assert list(RoutingDecision.objects.order_by("pk").values_list("target", flat=True)) == [
        "model", "model", "stay", "model",
    ]  # fmt: skip


@pytest.mark.usefixtures("learned")
def test_open_tool_calls_keep_their_model(client: OpenAI, model: Callable[..., Any]):
    """Agents add their own words after a tool's result."""
    for _ in range(4):
        model("calls-tools", abilities=["tools"])
    call = {"id": "call_0", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    messages = [user("How is the weather?")]
    first = ask(client, *messages, tools=[WEATHER]).headers["X-Arena-Model"]
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": "sunny"},
        user("Write a whole Python program now, and translate it into Japanese. " * 20),
    ]
    assert ask(client, *messages, tools=[WEATHER]).headers["X-Arena-Model"] == first


def test_messages_without_a_prompt_are_answered(client: OpenAI, model: Callable[..., Any]):
    model()
    assert ask(client, {"role": "system", "content": "one"}).parse().choices[0].message.content == "one "
