"""Nobody does something more often than the limit says, however many requests race."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from common import limits
from common.errors import ServiceAway, TooManyRequests
from common.valkey import connection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("limits_are_known")]


@pytest.fixture
def seven_an_hour(settings) -> None:
    settings.ARENA_LIMITS = {("vote", "visitor"): "7/hour"}


def count(*keys: str, fail_open: bool = False) -> bool:
    try:
        limits.count("vote", "visitor", *keys, fail_open=fail_open)
    except TooManyRequests:
        return False
    return True


def test_two_hundred_at_once_against_a_limit_of_seven_let_exactly_seven_through(seven_an_hour):
    barrier = Barrier(200)

    def race(_: int) -> bool:
        barrier.wait(30)
        return count("user:1")

    with ThreadPoolExecutor(200) as pool:
        assert Counter(pool.map(race, range(200))) == {True: 7, False: 193}


def test_people_and_actions_have_counters_of_their_own(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "1/hour", ("battle", "visitor"): "1/hour"}
    assert count("user:1")
    assert count("user:2")
    limits.count("battle", "visitor", "user:1", fail_open=False)
    assert not count("user:1")


def test_a_network_is_counted_beside_the_person(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "2/hour"}
    assert count("user:1", "10.0.0.1")
    assert count("user:2", "10.0.0.1")
    assert not count("user:3", "10.0.0.1")


def test_every_one_of_several_limits_holds(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "5/minute,2/day"}
    assert [count("user:1") for _ in range(3)] == [True, True, False]


def test_the_refusal_says_how_long_to_wait(seven_an_hour):
    for _ in range(7):
        count("user:1")
    with pytest.raises(TooManyRequests) as refusal:
        limits.count("vote", "visitor", "user:1", fail_open=False)
    assert 3500 < int(refusal.value.headers["Retry-After"]) <= 3600
    assert refusal.value.http_status == 429


def test_the_counter_goes_away_by_itself(seven_an_hour):
    count("user:1")
    [key] = connection().keys("*")
    assert 0 < connection().ttl(key) <= 3600


def test_a_limit_can_be_turned_off(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "off"}
    assert all(count("user:1") for _ in range(50))


def test_without_valkey_votes_pass_and_battles_wait(seven_an_hour, no_valkey):
    assert count("user:1", fail_open=True)
    with pytest.raises(ServiceAway) as refusal:
        count("user:1", fail_open=False)
    assert (refusal.value.http_status, refusal.value.headers) == (503, {"Retry-After": "5"})


@pytest.mark.usefixtures("full_valkey")
def test_a_full_valkey_is_as_good_as_none(seven_an_hour):
    assert count("user:1", fail_open=True)
    with pytest.raises(ServiceAway):
        count("user:1", fail_open=False)
