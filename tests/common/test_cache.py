import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from common.cache import RefreshedCached, TTLCached, reset_all
from models_registry.models import Provider
from tests import make
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def names() -> list[str]:
    return list(Provider.objects.order_by("name").values_list("name", flat=True))


@pytest.fixture
def cached() -> TTLCached[list[str]]:
    make.provider("http://ada.test/v1", name="ada")
    return TTLCached(names, ttl_s=3_600, invalidated_by=(Provider,))


def test_many_calls_run_one_query(cached: TTLCached[list[str]], django_assert_num_queries):
    with django_assert_num_queries(1):
        assert [cached() for _ in range(10)] == [["ada"]] * 10


def test_calls_during_a_load_wait_for_its_result():
    loads: list[int] = []

    def load() -> str:
        loads.append(1)
        wait_for(lambda: threads._work_queue.empty())  # every call has begun
        return "loaded"

    cached = TTLCached(load, ttl_s=3_600)
    with ThreadPoolExecutor(10) as threads:
        assert list(threads.map(lambda _: cached(), range(10))) == ["loaded"] * 10
    assert len(loads) == 1


def test_saving_and_deleting_invalidate(cached: TTLCached[list[str]]):
    assert cached() == ["ada"]
    bert = make.provider("http://bert.test/v1", name="bert")
    assert cached() == ["ada", "bert"]
    bert.delete()
    assert cached() == ["ada"]


def test_changes_of_other_processes_show_after_the_ttl(cached: TTLCached[list[str]]):
    assert cached() == ["ada"]
    Provider.objects.update(name="bert")  # sends no signal, as another process sends none here
    assert cached() == ["ada"]
    cached.ttl_s = 0
    cached.invalidate()
    assert cached() == ["bert"]
    Provider.objects.update(name="claude")
    assert cached() == ["claude"]


def test_load_before_the_commit_is_dropped_at_the_commit():
    """Another request, which cannot see the change yet, loads between the save and its commit."""
    seen = iter(["before", "after"])
    cached = TTLCached(lambda: next(seen), ttl_s=3_600, invalidated_by=(Provider,))
    with transaction.atomic():
        make.provider("http://ada.test/v1")
        assert cached() == "before"
    assert cached() == "after"


def test_value_loaded_during_a_change_is_not_kept():
    """The change is committed between the load's query and its end."""
    values = ["before"]

    def load() -> str:
        seen = values[-1]
        if seen == "before":
            values.append("after")
            make.provider("http://ada.test/v1")
        return seen

    cached = TTLCached(load, ttl_s=3_600, invalidated_by=(Provider,))
    assert [cached(), cached()] == ["before", "after"]


def test_failed_load_is_tried_again():
    def load() -> str:
        if not tried:
            tried.append(1)
            raise OSError
        return "loaded"

    tried: list[int] = []
    cached = TTLCached(load, ttl_s=3_600)
    with pytest.raises(OSError):
        cached()
    assert cached() == "loaded"


class _Loads:
    """Values 1, 2, …; all but the first wait for `may_load`."""

    def __init__(self) -> None:
        self.number = 0
        self.may_load = threading.Event()

    def __call__(self) -> int:
        self.number += 1
        number = self.number
        if number > 1:
            assert self.may_load.wait(60)
        return number


@pytest.fixture
def loads() -> Iterator[_Loads]:
    loads = _Loads()
    yield loads
    loads.may_load.set()


def test_half_expired_value_is_used_while_a_thread_loads(loads: _Loads):
    cached = TTLCached(loads, ttl_s=3_600, refreshes_early=True)
    assert [cached(), cached()] == [1, 1]
    cached._expires_at -= 1_900
    assert [cached() for _ in range(5)] == [1] * 5
    wait_for(lambda: loads.number == 2)
    assert cached() == 1
    loads.may_load.set()
    wait_for(lambda: cached() == 2)
    assert loads.number == 2


def test_expired_value_is_not_used_though_a_thread_loads(loads: _Loads):
    cached = TTLCached(loads, ttl_s=3_600, refreshes_early=True)
    cached()
    cached._expires_at -= 1_900
    cached()
    wait_for(lambda: loads.number == 2)
    cached._expires_at -= 1_900
    loads.may_load.set()
    assert cached() in (2, 3)


def test_change_drops_value_that_a_thread_loads(loads: _Loads):
    cached = TTLCached(loads, ttl_s=3_600, refreshes_early=True, invalidated_by=(Provider,))
    cached()
    cached._expires_at -= 1_900
    cached()
    wait_for(lambda: loads.number == 2)
    cached.invalidate()
    loads.may_load.set()
    wait_for(lambda: not cached._is_refreshing)
    assert cached() == 3


def test_preset_value_is_used_until_a_change(cached: TTLCached[list[str]]):
    cached.preset(["bert"])
    assert cached() == ["bert"]
    make.provider("http://claude.test/v1", name="claude")
    assert cached() == ["ada", "claude"]


def test_reset_invalidates_every_cache():
    values = itertools.count()
    caches = TTLCached(lambda: next(values), ttl_s=3_600), RefreshedCached(lambda: next(values), ttl_s=3_600)
    assert [cached() for cached in caches] == [0, 1]
    reset_all()
    assert [cached() for cached in caches] == [2, 3]
