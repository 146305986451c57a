"""What the handler does around a request that Django's does otherwise."""

import threading
import time
from collections.abc import Iterator

import pytest
from django.core.signals import request_finished, request_started

from arena_site.site_handler import SiteHandler
from tests.site import Reader, serve
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


class OwnHandler(SiteHandler):
    """The sender by which this site's signals are told from everybody else's."""


@pytest.fixture
def reader() -> Iterator[Reader]:
    with serve(OwnHandler()) as address:
        yield Reader(address)


@pytest.fixture
def heard() -> Iterator[list[tuple[str, str]]]:
    """[("started" or "finished", the thread's name)]"""
    said: list[tuple[str, str]] = []

    def started(**_: object) -> None:
        said.append(("started", threading.current_thread().name.rsplit("_", 1)[0]))

    def finished(**_: object) -> None:
        said.append(("finished", threading.current_thread().name.rsplit("_", 1)[0]))

    request_started.connect(started, sender=OwnHandler)
    request_finished.connect(finished, sender=OwnHandler)
    yield said
    request_started.disconnect(started, sender=OwnHandler)
    request_finished.disconnect(finished, sender=OwnHandler)


def test_request_runs_in_one_thread(reader: Reader, heard: list[tuple[str, str]]):
    assert reader.get("/leaderboard/").status_code == 200
    assert heard == [("started", "request"), ("finished", "request")]


def test_stream_ends_when_reader_leaves(reader: Reader, heard: list[tuple[str, str]]):
    with reader.client.stream("GET", "/leaderboard/stream/") as stream:
        assert stream.status_code == 200
        pieces = stream.iter_raw()  # kept: one that nobody keeps hangs up
        next(pieces)
        assert [what for what, _ in heard] == ["started"]
    wait_for(lambda: len(heard) == 2, within=20)
    assert heard[1][0] == "finished"


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
