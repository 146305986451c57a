from collections import Counter

import pytest

from common.errors import ServiceAway, TooManyRequests
from common.valkey import limits
from common.valkey.connections import connection
from common.valkey.limits import Key
from tests.concurrency import race

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("limits_are_known")]


@pytest.fixture
def seven_an_hour(settings) -> None:
    settings.ARENA_LIMITS = {("vote", "visitor"): "7/hour", ("vote", "network"): "20/hour"}


def count(person: str, network: str = "", *, fail_open: bool = False) -> bool:
    keys = {"visitor": Key(person)} | ({"network": Key(network)} if network else {})
    try:
        limits.count("vote", keys, fail_open=fail_open)
    except TooManyRequests:
        return False
    return True


def counts_at_once(requests: list[tuple[str, str]]) -> Counter[bool]:
    return Counter(race(lambda request: count(*request), requests))


def test_race_of_two_hundred_against_seven_lets_seven_pass(seven_an_hour):
    assert counts_at_once([("user:1", "")] * 200) == {True: 7, False: 193}


def test_people_and_actions_have_counters_of_their_own(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "1/hour", ("battle", "visitor"): "1/hour"}
    assert count("user:1")
    assert count("user:2")
    limits.count("battle", {"visitor": Key("user:1")}, fail_open=False)
    assert not count("user:1")


def test_network_has_a_wider_limit_of_its_own(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "2/hour", ("vote", "network"): "5/hour"}
    assert [count(f"user:{n}", "10.0.0.1") for n in (1, 1, 1)] == [True, True, False]
    assert [count(f"user:{n}", "10.0.0.1") for n in (2, 3, 4, 5)] == [True, True, True, False]
    assert count("user:5", "10.0.0.2")


def test_refused_person_uses_nothing_of_the_network(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "1/hour", ("vote", "network"): "3/hour"}
    assert [count("user:1", "10.0.0.1") for _ in range(20)] == [True] + [False] * 19
    assert [count(f"user:{n}", "10.0.0.1") for n in (2, 3, 4)] == [True, True, False]


def test_refused_network_uses_nothing_of_the_person(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "1/hour", ("vote", "network"): "1/hour"}
    assert count("user:1", "10.0.0.1")
    assert not count("user:2", "10.0.0.1")
    assert count("user:2", "10.0.0.2")


def test_race_of_many_persons_fills_their_network_exactly(seven_an_hour):
    assert counts_at_once([(f"user:{n % 40}", "10.0.0.1") for n in range(200)]) == {True: 20, False: 180}


@pytest.mark.slow
def test_race_of_one_person_leaves_the_network_the_rest(seven_an_hour):
    assert counts_at_once([("user:1", "10.0.0.1")] * 200) == {True: 7, False: 193}
    assert counts_at_once([(f"user:{n}", "10.0.0.1") for n in range(2, 202)]) == {True: 13, False: 187}


def test_longest_wait_is_reported(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "1/minute", ("vote", "network"): "1/hour"}
    assert count("user:1", "10.0.0.1")
    with pytest.raises(TooManyRequests, match="Your network") as refusal:
        limits.count("vote", {"visitor": Key("user:1"), "network": Key("10.0.0.1")}, fail_open=False)
    assert int(refusal.value.headers["Retry-After"]) > 60


def test_uncount_after_the_window_starts_no_debt(seven_an_hour):
    count("user:1")
    connection().flushdb()  # the window is over
    limits.uncount("vote", {"visitor": Key("user:1")})
    assert [count("user:1") for _ in range(8)] == [True] * 7 + [False]


def test_all_limits_of_a_rate_hold(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "5/minute,2/day"}
    assert [count("user:1") for _ in range(3)] == [True, True, False]


def test_refusal_has_retry_after(seven_an_hour):
    for _ in range(7):
        count("user:1")
    with pytest.raises(TooManyRequests) as refusal:
        limits.count("vote", {"visitor": Key("user:1")}, fail_open=False)
    assert 3500 < int(refusal.value.headers["Retry-After"]) <= 3600
    assert refusal.value.http_status == 429


def test_counter_expires(seven_an_hour):
    count("user:1")
    [key] = connection().keys("*")
    assert 0 < connection().ttl(key) <= 3600


def test_limit_can_be_off(settings):
    settings.ARENA_LIMITS = {("vote", "visitor"): "off"}
    assert all(count("user:1") for _ in range(50))


def test_limits_without_valkey_pass_or_refuse(seven_an_hour, no_valkey):
    assert count("user:1", fail_open=True)
    with pytest.raises(ServiceAway) as refusal:
        count("user:1", fail_open=False)
    assert (refusal.value.http_status, refusal.value.headers) == (503, {"Retry-After": "5"})


@pytest.mark.usefixtures("full_valkey")
def test_full_valkey_counts_as_unreachable(seven_an_hour):
    assert count("user:1", fail_open=True)
    with pytest.raises(ServiceAway):
        count("user:1", fail_open=False)
