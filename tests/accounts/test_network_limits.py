from collections.abc import Iterator

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Visitor
from battles import actions
from battles.models import Vote
from common.errors import TooManyRequests
from common.valkey import limits
from tests import make

pytestmark = pytest.mark.django_db


def visitors(number: int, network: str = "203.0.113.7") -> Iterator[Actor]:
    for _ in range(number):
        yield Actor(visitor=Visitor.objects.create(), network=network)


@pytest.mark.slow
def test_forty_visitors_of_one_network_battle_and_vote():
    left, right = make.model(), make.model()
    for visitor in visitors(40):
        actions.start_session(actor=visitor, prompt="hello")
        battle = make.answered_battle(left, right, actor=visitor)
        actions.cast_vote(actor=visitor, battle=battle, choice=Vote.Choice.TIE)


def count_until_refused(actors: Iterator[Actor], *, each: int, action: str = "battle") -> int:
    """Return how often `action` is counted if each actor tries it `each` times."""
    counted = 0
    for actor in actors:
        for _ in range(each):
            try:
                limits.count(action, actor.limit_keys, fail_open=False)
            except TooManyRequests:
                break
            counted += 1
    return counted


@pytest.mark.parametrize("action", ["battle", "turn", "vote"])
def test_class_of_forty_does_ten_each_in_an_hour(action: str):
    assert count_until_refused(visitors(40), each=10, action=action) == 400


@pytest.mark.slow
@pytest.mark.parametrize("action", ["battle", "turn", "vote", "star", "report", "upload", "export"])
def test_forty_cookies_get_at_most_twenty_times_as_much(action: str):
    [alone, *_] = limits.limits_of(action, "visitor")
    assert alone.amount <= count_until_refused(visitors(40), each=alone.amount, action=action) <= 20 * alone.amount


def test_networks_of_one_ipv6_48_share_a_limit(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "network"): "2/hour", ("battle", "network48"): "3/hour"}
    make.model(), make.model()

    def battle(address: str) -> int:
        client = Client(REMOTE_ADDR=address)
        return client.post("/api/v1/sessions/", {"prompt": "hello"}, "application/json").status_code

    assert [battle("2001:db8:1:1::1") for _ in range(3)] == [201, 201, 429]
    assert [battle(f"2001:db8:1:{network}::1") for network in (2, 3)] == [201, 429]
    assert battle("2001:db8:2:1::1") == 201


def test_visitors_and_members_of_network_have_separate_limits(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "network"): "3/hour"}
    assert count_until_refused(visitors(10), each=1) == 3
    member = Actor(user=make.user(), network="203.0.113.7")
    assert count_until_refused(iter([member]), each=5) == 3


def test_visitor_without_a_cookie_is_counted_as_the_network():
    assert Actor(network="203.0.113.7").limit_keys == {"network": limits.Key("visitors:203.0.113.7")}
