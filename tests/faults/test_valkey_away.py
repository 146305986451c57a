"""Valkey is away: votes are accepted, pages are served, and new battles of visitors are refused."""

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import httpx2
import pytest

from tests.fake_provider import FakeProvider
from tests.faults.battling import (
    HALTED,
    LONG,
    allowed_time,
    another_tab,
    answered_battle,
    complete_texts,
    start_halted_battle,
    texts,
    vote,
    wait_until_answered,
)
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import VALKEY, Arena

pytestmark = pytest.mark.faults

PAUSED = "New battles are temporarily unavailable"


@pytest.fixture(params=["hung", "gone"])
def valkey_away(request: pytest.FixtureRequest, arena: Arena) -> Callable[[], AbstractContextManager[None]]:
    return lambda: getattr(arena, request.param)(VALKEY)


@pytest.fixture
def member(arena: Arena) -> Reader:
    make = (
        "from accounts.models import User, ApiToken, Scope; "
        "user, _ = User.objects.get_or_create(email='member@example.org'); "
        "print(ApiToken.issue(user=user, name='test', scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])[1])"
    )
    return Reader(arena.url, arena.shell(make).strip())


def timed(call: Callable[[], httpx2.Response]) -> tuple[float, httpx2.Response]:
    began = time.monotonic()
    response = call()
    return time.monotonic() - began, response


def test_site_without_valkey_takes_votes_and_serves_pages(
    arena: Arena, reader: Reader, member: Reader, steady_provider: FakeProvider, valkey_away
):
    battles = [reader.start_battle() for _ in range(30)]
    battles = [wait_until_answered(reader, battle) for battle in battles]
    tabs = [another_tab(reader) for _ in range(3)]
    speaking = start_halted_battle(reader, steady_provider)
    session = f"/s/{speaking['session']}/"
    at_once, soon = allowed_time(1, reader), allowed_time(4, reader)
    with valkey_away():
        steady_provider.go_on()
        with ThreadPoolExecutor(3) as people:
            votes = list(people.map(lambda n: timed(lambda: vote(tabs[n % 3], battles[n])), range(30)))
        assert {response.status_code for _, response in votes} == {201}
        # Two of thirty take half a second: in each web process the first one meets the timeout.
        assert statistics.quantiles([took for took, _ in votes], n=20)[-1] <= at_once

        pages = {path: timed(lambda path=path: reader.get(path)) for path in ("/", session, "/leaderboard/", "/readyz")}
        assert max(took for took, _ in pages.values()) <= soon
        assert {path: page.status_code for path, (_, page) in pages.items()} == {
            "/": 200, session: 200, "/leaderboard/": 200, "/readyz": 503,
        }  # fmt: skip
        assert PAUSED in pages["/"][1].text
        assert PAUSED in pages[session][1].text

        took, refused = timed(lambda: reader.api("POST", "sessions/", {"prompt": "a visitor's"}))
        assert (took <= soon, refused.status_code, refused.json()["code"]) == (True, 503, "service_unavailable")
        assert "temporarily unavailable" in refused.json()["detail"]
        assert int(refused.headers["Retry-After"]) >= 1
        took, accepted = timed(lambda: member.api("POST", "sessions/", {"prompt": LONG}))
        assert (took <= soon, accepted.status_code) == (True, 201)
        took, stopped = timed(lambda: member.api("POST", f"battles/{speaking['id']}/stop/"))
        assert (took <= soon, stopped.status_code) == (True, 404)  # another person's battle, and nothing hangs
    assert texts(wait_until_answered(reader, speaking)) == complete_texts(HALTED)
    wait_for(arena.is_ready)  # circuit breakers close by themselves
    assert texts(wait_until_answered(member, accepted.json()["battles"][0])) == complete_texts(LONG)
    assert texts(answered_battle(reader)) == complete_texts("one two three")
    assert PAUSED not in reader.get("/").text
