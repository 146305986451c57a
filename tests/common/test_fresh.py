"""What a crowd asks for is read once, and no change of this process is missed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import pytest
from django.db import transaction

from common.fresh import Fresh
from models_registry.models import Provider
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


def names() -> list[str]:
    return list(Provider.objects.order_by("name").values_list("name", flat=True))


@pytest.fixture
def fresh() -> Fresh[list[str]]:
    make.provider("http://ada.test/v1", name="ada")
    return Fresh(names, for_s=3_600, changed_by=(Provider,))


def test_a_crowd_reads_once(fresh: Fresh[list[str]], django_assert_num_queries):
    with django_assert_num_queries(1):
        assert [fresh() for _ in range(10)] == [["ada"]] * 10


def test_what_this_process_saves_and_deletes_shows_at_once(fresh: Fresh[list[str]]):
    assert fresh() == ["ada"]
    bert = make.provider("http://bert.test/v1", name="bert")
    assert fresh() == ["ada", "bert"]
    bert.delete()
    assert fresh() == ["ada"]


def test_what_others_change_shows_when_it_is_no_longer_fresh(fresh: Fresh[list[str]]):
    assert fresh() == ["ada"]
    Provider.objects.update(name="bert")  # sends no signal, as another process sends none here
    assert fresh() == ["ada"]
    fresh.for_s = 0
    fresh.forget()
    assert fresh() == ["bert"]
    Provider.objects.update(name="claude")
    assert fresh() == ["claude"]


def test_what_was_read_before_a_change_was_committed_is_forgotten_then():
    """Another request, which cannot see the change yet, reads between it and its commit."""
    seen = iter(["before", "after"])
    fresh = Fresh(lambda: next(seen), for_s=3_600, changed_by=(Provider,))
    with transaction.atomic():
        make.provider("http://ada.test/v1")
        assert fresh() == "before"
    assert fresh() == "after"


def test_what_was_read_while_it_changed_is_not_kept():
    """The change is committed between a reader's look and its end."""
    values = ["before"]

    def slowly() -> str:
        seen = values[-1]
        if seen == "before":
            values.append("after")
            make.provider("http://ada.test/v1")
        return seen

    fresh = Fresh(slowly, for_s=3_600, changed_by=(Provider,))
    assert [fresh(), fresh()] == ["before", "after"]


def test_those_who_wait_for_a_reading_that_fails_are_told_at_once(monkeypatch: pytest.MonkeyPatch):
    """While the database is away, each would otherwise find out by waiting, one after the other."""
    readings: list[int] = []
    line = Line()

    def fails() -> str:
        readings.append(1)
        assert line.all_are_in.wait(60)
        raise OSError("away")

    fresh = Fresh(fails, for_s=3_600)
    monkeypatch.setattr(fresh, "_lock", line)
    with ThreadPoolExecutor(Line.LENGTH) as people:
        asked = [people.submit(fresh) for _ in range(Line.LENGTH)]
    assert [str(one.exception()) for one in asked] == ["away"] * Line.LENGTH
    assert len(readings) == 1


class Line:
    """A lock that knows when everybody has asked for it."""

    LENGTH = 10

    def __init__(self) -> None:
        self.all_are_in = Event()
        self._lock, self._places = Lock(), iter(range(1, self.LENGTH + 1))

    def __enter__(self) -> None:
        if next(self._places) == self.LENGTH:
            self.all_are_in.set()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_a_failed_reading_is_tried_again():
    def fails() -> str:
        if not tried:
            tried.append(1)
            raise OSError
        return "read"

    tried: list[int] = []
    fresh = Fresh(fails, for_s=3_600)
    with pytest.raises(OSError):
        fresh()
    assert fresh() == "read"
