import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import pytest

from battles.streaming.protocol import TurnEvent, entry, stream_key
from common.valkey import connections, stream_slots
from common.valkey.stream_slots import TooManyStreams
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader, serve
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

BOARD = "/leaderboard/stream/"


@pytest.fixture
def address() -> Iterator[str]:
    with serve() as address:
        yield address


@pytest.fixture
def caps(settings: Any) -> dict[str, int]:
    settings.ARENA_STREAMS = {**settings.ARENA_STREAMS}
    return settings.ARENA_STREAMS


@contextmanager
def opened(client: httpx2.Client, path: str, number: int = 1) -> Iterator[list[httpx2.Response]]:
    """Hold `number` streams open."""
    with ExitStack() as stack, ThreadPoolExecutor(number) as pool:
        requests = [client.build_request("GET", path) for _ in range(number)]
        responses = list(pool.map(lambda request: client.send(request, stream=True), requests))
        for response in responses:
            stack.callback(response.close)
        yield responses


def live_stream(person: Reader) -> str:
    """Return the URL of a turn's stream that has begun and does not end."""
    battle = person.start_battle()
    connections.connection().xadd(stream_key(battle["id"], 0), entry([TurnEvent("state", "left", "streaming")]))
    return battle["stream_url"]


def statuses(responses: list[httpx2.Response]) -> list[int]:
    return sorted(response.status_code for response in responses)


def test_ninth_stream_of_a_person_is_refused(address: str, fake_provider: FakeProvider):
    for name in ("slow", "slow"):
        make.model(name, at=fake_provider.base_url)
    reader, other = Reader(address), Reader(address)
    streams = [live_stream(person) for person in (reader, other)]
    with opened(reader.client, streams[0], 8) as first_eight:
        assert statuses(first_eight) == [200] * 8
        refused = reader.get(streams[0])
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_streams")
        assert refused.headers["Retry-After"] == "10"
        assert refused.headers["Content-Type"] == "application/json"
        with opened(other.client, streams[1]) as others:
            assert statuses(others) == [200]
    wait_for(lambda: len(stream_slots.open_slots()) == 0)
    with opened(reader.client, streams[0]) as again:
        assert statuses(again) == [200]


def test_stream_caps_are_exact_when_many_open_at_once(address: str):
    with opened(Reader(address).client, BOARD, 40) as responses:
        assert statuses(responses) == [200] * 8 + [429] * 32


@pytest.mark.parametrize("whose", ["network", "process"])
def test_network_and_process_stream_caps_hold(address: str, caps: dict[str, int], whose: str):
    gc.collect()
    before = len(stream_slots.open_slots()) if whose == "process" else 0
    caps.update(person=2, **{whose: before + 3})
    people = [stream_slots.reader_parameter(f"visitor:{number}") for number in range(4)]
    client = Reader(address).client
    with ExitStack() as stack:
        for person in people[:3]:
            assert statuses(stack.enter_context(opened(client, f"{BOARD}?reader={person}"))) == [200]
        assert client.get(f"{BOARD}?reader={people[3]}").status_code == 429


def test_board_page_names_its_reader_in_the_stream(address: str, fake_provider: FakeProvider):
    for name in ("honest", "honest"):
        make.model(name, at=fake_provider.base_url)
    stranger, visitor = Reader(address), Reader(address)
    visitor.start_battle()
    assert 'data-reader=""' in stranger.get("/leaderboard/").text
    assert 'data-reader=""' not in visitor.get("/leaderboard/").text


def test_forged_reader_shares_the_network_s_streams(address: str):
    with opened(Reader(address).client, BOARD, 8):
        forged = Reader(address).get(f"{BOARD}?reader=0123456789abcdef:{'x' * 43}")
        assert forged.status_code == 429


def test_slots_of_a_dead_process_expire(monkeypatch: pytest.MonkeyPatch, caps: dict[str, int]):
    monkeypatch.setattr(stream_slots, "LEASE_S", 1)
    caps.update(person=1)
    slot = stream_slots.acquire(person="person-1", network="here")
    with pytest.raises(TooManyStreams):
        stream_slots.acquire(person="person-1", network="here")
    del slot
    gc.collect()  # stops the renewal, like a killed process
    wait_for(lambda: _takes("person-1"))


def _takes(person: str) -> bool:
    try:
        stream_slots.acquire(person=person, network="here")
    except TooManyStreams:
        return False
    return True


def test_open_slots_are_renewed_and_survive_a_flush():
    slot = stream_slots.acquire(person="person-1", network="here")
    connections.connection().flushdb()
    stream_slots.renew()
    expiry = connections.connection().zscore("streams:person:person-1", slot.id)
    stream_slots.renew()
    assert connections.connection().zscore("streams:person:person-1", slot.id) > expiry
    slot.release()
    assert connections.connection().exists("streams:person:person-1", "streams:network:here") == 0


def test_streams_open_while_valkey_is_away(monkeypatch: pytest.MonkeyPatch, caps: dict[str, int]):
    def away(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    gc.collect()
    caps.update(process=len(stream_slots.open_slots()) + 2)
    monkeypatch.setattr(stream_slots, "_acquire", away)
    held = [stream_slots.acquire(person="person-1", network="here") for _ in range(2)]
    with pytest.raises(TooManyStreams):
        stream_slots.acquire(person="person-1", network="here")
    assert len(held) == 2
