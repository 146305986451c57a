import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.http import StreamingHttpResponse
from django.utils.translation import get_language

from arena_site.site_handler import SiteHandler
from tests.site import Reader, serve
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


class OwnHandler(SiteHandler):
    """Sender that separates this site's signals from others."""


@pytest.fixture
def reader() -> Iterator[Reader]:
    with serve(OwnHandler()) as address:
        yield Reader(address)


@pytest.fixture
def signals() -> Iterator[list[tuple[str, str]]]:
    """Received signals: ("started" or "finished", the thread's name)."""
    received: list[tuple[str, str]] = []

    def started(**_: object) -> None:
        received.append(("started", threading.current_thread().name.rsplit("_", 1)[0]))

    def finished(**_: object) -> None:
        received.append(("finished", threading.current_thread().name.rsplit("_", 1)[0]))

    request_started.connect(started, sender=OwnHandler)
    request_finished.connect(finished, sender=OwnHandler)
    yield received
    request_started.disconnect(started, sender=OwnHandler)
    request_finished.disconnect(finished, sender=OwnHandler)


def test_request_runs_in_one_thread(reader: Reader, signals: list[tuple[str, str]]):
    assert reader.get("/leaderboard/").status_code == 200
    assert signals == [("started", "request"), ("finished", "request")]


def test_stream_ends_when_reader_leaves(reader: Reader, signals: list[tuple[str, str]]):
    with reader.client.stream("GET", "/leaderboard/stream/") as stream:
        assert stream.status_code == 200
        pieces = stream.iter_raw()  # kept in a variable, because the collected iterator would close the stream
        next(pieces)
        assert [name for name, _ in signals] == ["started"]
    wait_for(lambda: len(signals) == 2, within=20)
    assert signals[1][0] == "finished"


def test_server_ends_after_its_open_streams():
    over = threading.Event()

    def slowly(**_: object) -> None:
        time.sleep(0.5)
        over.set()

    request_finished.connect(slowly, sender=OwnHandler)
    try:
        with serve(OwnHandler()) as address:
            client = Reader(address).client
            stream = client.send(client.build_request("GET", "/leaderboard/stream/"), stream=True)
            assert (stream.status_code, over.is_set()) == (200, False)
        assert over.is_set()
    finally:
        request_finished.disconnect(slowly, sender=OwnHandler)


def test_stream_that_loses_a_cancellation_ends():
    sent = asyncio.Event()

    async def events() -> AsyncIterator[bytes]:
        yield b"event"
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(3600)
        await asyncio.sleep(3600)

    async def receive() -> dict[str, Any]:
        await sent.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body":
            sent.set()

    response = StreamingHttpResponse(events())
    asyncio.run(asyncio.wait_for(SiteHandler()._stream(response, receive, send), 60))
    assert response.closed


def test_stream_has_the_language_of_its_request():
    sent: list[bytes] = []

    async def events() -> AsyncIterator[bytes]:
        yield get_language().encode()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message.get("body", b""))

    async def stream(language: str) -> None:
        await SiteHandler()._stream(StreamingHttpResponse(events()), receive, send, language=language)

    async def stream_two() -> None:
        await asyncio.gather(stream("fr"), stream("en"))

    asyncio.run(asyncio.wait_for(stream_two(), 60))
    assert sorted(filter(None, sent)) == [b"en", b"fr"]
