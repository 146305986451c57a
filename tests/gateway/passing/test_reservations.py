"""All bytes that are sent are reserved, also caches and the provider's own tools."""

import base64
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from battles.models import Call
from models_registry.models import Charge, LanguageModel, Provider
from models_registry.providers.kinds import ProviderKind
from models_registry.versions import set_price
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED
from tests.gateway.test_bad_input import PNG
from tests.models_registry.paid_models import A_CENT_A_TOKEN

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "word " * 200
AUDIO = {"data": WORDS.replace(" ", "A"), "format": "wav"}
HARMFUL = (
    {"type": "web_search", "url": "https://example.org"},
    {"type": "mcp"},
    {"type": "web_search", "file_id": "x"},
)
SEARCH = {"type": "web_search", "search_context_size": "low"}


@pytest.fixture(autouse=True)
def _rich(settings: Any) -> None:
    settings.ARENA_BUDGETS = dict.fromkeys(settings.ARENA_BUDGETS, None)


@pytest.fixture
def paid(model: Callable[..., Any]) -> LanguageModel:
    paid_model = model(parameters={"max_tokens": 10}, abilities=["tools", "images"])
    set_price(paid_model, A_CENT_A_TOKEN, A_CENT_A_TOKEN)
    return paid_model


@pytest.fixture
def reserved(address: str, token: str) -> Callable[..., int]:
    """Return a function that sends a body and returns the cents, or tokens, that were reserved."""

    def reserved(model: LanguageModel, **body: Any) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        body = {"model": model.slug, "messages": ASKED, **body}
        response = httpx2.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)
        assert response.status_code == 200, response.text
        return int(100 * Charge.objects.latest("pk").most)

    return reserved


def with_part(part: dict[str, Any]) -> list[Any]:
    return [{"role": "user", "content": [{"type": "text", "text": "one two three"}, part]}]


def test_every_text_adds_to_the_reservation(reserved: Callable[..., int], paid: LanguageModel):
    plain = reserved(paid)
    assert plain < 60
    places: dict[str, dict[str, Any]] = {
        "name": {"messages": [{**ASKED[0], "name": WORDS}]},
        "unknown-field": {"messages": [{**ASKED[0], "memo": [WORDS]}]},
        "unknown-part": {"messages": with_part({"type": "poem", "lines": WORDS})},
        "field-of-a-text": {"messages": with_part({"type": "text", "text": "x", "memo": WORDS})},
        "audio": {"messages": with_part({"type": "input_audio", "input_audio": AUDIO})},
        "prediction": {"prediction": {"type": "content", "content": WORDS}},
        "grammar": {"grammar": WORDS},
        "tool": {"tools": [{"type": "function", "function": {"name": "f", "description": WORDS}}]},
        "functions": {"functions": [{"name": "f", "description": WORDS}]},
    }  # fmt: skip
    for name, body in places.items():
        assert reserved(paid, **body) >= plain + len(WORDS) - 1, name


def test_context_bounds_the_reservation_of_texts(reserved: Callable[..., int], paid: LanguageModel):
    long = [{"role": "user", "content": WORDS}]
    assert reserved(paid, messages=long) > 1_000
    LanguageModel.objects.update(context_length=500)
    assert reserved(paid, messages=long) == 500 + 10
    picture = {"type": "image_url", "image_url": {"url": PNG}}
    assert reserved(paid, messages=with_part(picture)) > 5_000


def test_cache_control_reserves_the_price_of_writing(reserved: Callable[..., int], paid: LanguageModel):
    LanguageModel.objects.update(context_length=500)
    long = {"type": "text", "text": WORDS}
    assert reserved(paid, messages=with_part(long)) == 500 + 10
    cached = {**long, "cache_control": {"type": "ephemeral"}}
    assert reserved(paid, messages=with_part(cached)) == 2 * 500 + 10
    tool = {"type": "function", "function": {"name": "f", "description": WORDS}, "cache_control": {"type": "ephemeral"}}
    assert reserved(paid, tools=[tool]) == 2 * 500 + 10


def test_priced_tools_are_sent_reserved_and_booked(
    reserved: Callable[..., int], paid: LanguageModel, fake_provider: FakeProvider
):
    plain = reserved(paid)
    unpriced = Charge.objects.latest("pk").cost
    Provider.objects.update(server_tool_prices={"web_search": 3, "web_search_options": 5}, kind=ProviderKind.OPENAI)
    assert reserved(paid, tools=[SEARCH]) == pytest.approx(plain + 300, abs=1_200)
    assert fake_provider.requests[-1]["tools"] == [SEARCH]
    assert Charge.objects.latest("pk").cost == unpriced + 3
    assert reserved(paid, web_search_options={"search_context_size": "low"}) > plain + 500
    assert fake_provider.requests[-1]["web_search_options"] == {"search_context_size": "low"}
    assert Charge.objects.latest("pk").cost == unpriced + 5
    for tool in (
        {"type": "web_search", "url": "https://example.org"},
        {"type": "mcp"},
        {"type": "web_search", "file_id": "x"},
    ):
        reserved(paid, tools=[tool])
        assert "tools" not in fake_provider.requests[-1]
        assert Charge.objects.latest("pk").cost == unpriced


def test_log_of_calls_has_no_texts(reserved: Callable[..., int], paid: LanguageModel):
    secret = base64.b32encode(b"a secret").decode()
    reserved(paid, grammar=secret, stop=secret, guided_choice=[secret], prediction={"content": secret}, temperature=1)
    logged = Call.objects.get().request
    assert secret not in str(logged)
    assert logged["parameters"]["temperature"] == 1
