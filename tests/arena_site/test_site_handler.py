"""What the handler does around a request that Django's does otherwise."""

import threading

import pytest
from django.core.signals import request_finished, request_started

from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heard():
    """[("started" or "finished", the thread's name)]"""
    said: list[tuple[str, str]] = []

    def started(**_: object) -> None:
        said.append(("started", threading.current_thread().name.rsplit("_", 1)[0]))

    def finished(**_: object) -> None:
        said.append(("finished", threading.current_thread().name.rsplit("_", 1)[0]))

    request_started.connect(started)
    request_finished.connect(finished)
    yield said
    request_started.disconnect(started)
    request_finished.disconnect(finished)


def test_a_request_begins_and_ends_in_the_thread_of_its_view(reader: Reader, heard: list[tuple[str, str]]):
    assert reader.get("/leaderboard/").status_code == 200
    assert heard == [("started", "request"), ("finished", "request")]


def test_a_stream_ends_once_its_reader_leaves(reader: Reader, heard: list[tuple[str, str]]):
    with reader.client.stream("GET", "/leaderboard/stream/") as stream:
        assert stream.status_code == 200
        next(stream.iter_raw())
        assert [what for what, _ in heard] == ["started"]
    ends = threading.Event()
    request_finished.connect(lambda **_: ends.set(), weak=False, dispatch_uid="ends")
    try:
        assert [what for what, _ in heard] == ["started", "finished"] or ends.wait(10)
    finally:
        request_finished.disconnect(dispatch_uid="ends")
