"""Callers that hang up at any byte of the request or the stream: charged for what was produced, and nothing stays."""

import json
import random
import socket
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest

from battles.models import Call
from gateway.answers.slots import _held as held_slots
from gateway.answers.upstream import Upstream
from gateway.models import Exchange
from models_registry.models import LanguageModel
from models_registry.versions import set_price
from tests.fake_provider import PAUSE, FakeProvider
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
# Two, three and four bytes long.
WORD = "é☃𝄞"
WORDS = 12


@pytest.fixture
def paid(model: Callable[..., Any]) -> LanguageModel:
    paid_model = model("honest")
    set_price(paid_model, Decimal(0), A_CENT_A_TOKEN)
    return paid_model


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that the arena received from the provider."""
    texts: list[str] = []
    receive = Upstream.receive

    def keep(upstream: Upstream, text: str, reasoning: str) -> float:
        texts.append(text)
        return receive(upstream, text, reasoning)

    monkeypatch.setattr(Upstream, "receive", keep)
    return texts


def request_bytes(token: str, model: LanguageModel, words: int = WORDS, *, is_stream: bool = True) -> bytes:
    prompt = " ".join([WORD] * words + [PAUSE, "never"])
    message = {"role": "user", "content": prompt}
    body = json.dumps({"model": model.slug, "stream": is_stream, "messages": [message]}, ensure_ascii=False).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    """Yield a connection that ends with a reset, as of a program that was killed."""
    url = urlsplit(address)
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=60) as connection:
        yield connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def has_arrived(texts: list[str], words: int) -> bool:
    return "".join(texts).count(WORD) == words


def nothing_stays(provider: FakeProvider) -> bool:
    return provider.paused == 0 and not Call.objects.unfinished().exists() and not held_slots


def test_stream_is_charged_wherever_it_is_cut(
    address: str, token: str, paid: LanguageModel, fake_provider: FakeProvider, arrived: list[str]
):
    generator, spent = random.Random(11), 0
    # The first byte of the status line; inside the headers; anywhere in the events.
    places = [1, generator.randint(20, 200), *(generator.randint(300, 2_500) for _ in range(6))]
    for place in places:
        words = generator.randint(1, WORDS)
        arrived.clear()
        with connected(address) as connection:
            connection.sendall(request_bytes(token, paid, words))
            wait_for(partial(has_arrived, arrived, words))
            connection.recv(place)
        wait_for(lambda: nothing_stays(fake_provider))
        spent += words
        call = Call.objects.latest("pk")
        assert (call.state, call.completion_tokens) == ("stopped", words), place
        assert accounts()["site"] == (0, spent)
    assert (spent, len(places)) == (fake_provider.words_sent, fake_provider.calls["honest"])
    assert Exchange.objects.count() == len(places)


def test_crowd_leaving_at_random_bytes_is_charged_what_arrived(
    address: str, token: str, model: Callable[..., Any], fake_provider: FakeProvider, arrived: list[str]
):
    # The streams do not pause: words may be under way from the provider when their reader leaves.
    steady = model("steady", parameters={"max_tokens": 1_000})
    set_price(steady, Decimal(0), A_CENT_A_TOKEN)
    generator = random.Random(13)

    def leave_after(place: int) -> None:
        with connected(address) as connection:
            connection.sendall(request_bytes(token, steady, 300))
            received = 0
            while received < place:
                received += len(connection.recv(place - received))

    places = [generator.randint(1, 2_500) for _ in range(16)]  # 300 words alone have more
    with ThreadPoolExecutor(len(places)) as callers:
        list(callers.map(leave_after, places))
    wait_for(lambda: nothing_stays(fake_provider))
    calls = Call.objects.values_list("state", "completion_tokens")
    charged = sum(tokens or 0 for _, tokens in calls)
    assert {state for state, _ in calls} == {"stopped"}
    assert charged == "".join(arrived).count(WORD)
    assert 0 < charged <= fake_provider.words_sent
    assert accounts()["site"] == (0, charged)
    assert Exchange.objects.count() == len(places)


def test_cut_inside_a_character_is_charged(
    address: str, token: str, paid: LanguageModel, fake_provider: FakeProvider, arrived: list[str]
):
    inside = WORD.encode()[3:4]  # the second byte of the snowman's three
    with connected(address) as connection:
        connection.sendall(request_bytes(token, paid))
        while connection.recv(1) != inside:
            pass
        wait_for(partial(has_arrived, arrived, WORDS))
    wait_for(lambda: nothing_stays(fake_provider))
    assert accounts()["site"] == (0, WORDS)


@pytest.mark.parametrize("is_stream", [True, False])
def test_hang_up_before_the_first_byte_costs_nothing(
    address: str, token: str, paid: LanguageModel, fake_provider: FakeProvider, is_stream: bool
):
    with connected(address) as connection:
        connection.sendall(request_bytes(token, paid, 0, is_stream=is_stream))
        wait_for(lambda: fake_provider.paused == 1)
    wait_for(lambda: nothing_stays(fake_provider))
    assert accounts()["site"] == (0, 0)
    assert Call.objects.get().state == "stopped"


def test_cut_request_asks_no_model(address: str, token: str, paid: LanguageModel, fake_provider: FakeProvider):
    whole = request_bytes(token, paid)
    body_at = whole.index(b"\r\n\r\n") + 4
    generator = random.Random(12)
    places = [1, generator.randrange(20, body_at), body_at, *(generator.randrange(body_at, len(whole)) for _ in "123")]
    for place in [*places, whole.index(WORD.encode()) + 1, len(whole) - 1]:
        with connected(address) as connection:
            connection.sendall(whole[:place])
    with connected(address) as connection:  # a later one is answered, after which the earlier ones would have begun
        connection.sendall(request_bytes(token, paid, 0))
        wait_for(lambda: fake_provider.paused == 1)
    wait_for(lambda: nothing_stays(fake_provider))
    assert Call.objects.count() == 1
