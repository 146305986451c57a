from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from battles.models import Session, Vote
from models_registry.models.ledger import person_account
from tests import make
from tests.concurrency import race
from tests.models_registry.paid_models import accounts, cents, paid_model
from tests.site import serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CROWD, TOKEN = 200, "a" * 32


@pytest.fixture
def address() -> Iterator[str]:
    """URL of a site without workers."""
    with serve() as address:
        yield address


@pytest.fixture(autouse=True)
def _limits(settings: Any) -> None:
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")


def browser(address: str, actor: Actor) -> httpx2.Client:
    cookies = {VISITOR_COOKIE: visitor_cookie_value(actor.visitor), "csrftoken": TOKEN}
    return httpx2.Client(base_url=f"{address}/api/v1/", cookies=cookies, headers={"X-CSRFToken": TOKEN}, timeout=60)


def all_at_once(ask: Callable[[int], httpx2.Response]) -> Counter[int]:
    """Send the requests at once and count their statuses."""
    return Counter(race(lambda number: ask(number).status_code, range(CROWD)))


def test_concurrent_battles_stay_within_limit(address: str, settings: Any):
    settings.ARENA_LIMITS["battle", "visitor"] = "7/hour"
    make.model(), make.model()
    with browser(address, make.visitor()) as client:
        statuses = all_at_once(lambda _: client.post("sessions/", json={"prompt": "Name a river."}))
    assert statuses == {201: 7, 429: 193}
    assert Session.objects.count() == 7


def test_concurrent_votes_stay_within_limit(address: str, settings: Any):
    settings.ARENA_LIMITS["vote", "visitor"] = "7/hour"
    actor, models = make.visitor(), [make.model(), make.model()]
    battles = [make.answered_battle(*models, actor=actor).public_id for _ in range(CROWD)]
    with browser(address, actor) as client:
        statuses = all_at_once(lambda number: client.post(f"battles/{battles[number]}/vote/", json={"choice": "tie"}))
    assert statuses == {201: 7, 429: 193}
    assert Vote.objects.count() == 7


def test_concurrent_votes_on_one_battle_store_one(address: str):
    actor = make.visitor()
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    choices = ("left", "right")
    with browser(address, actor) as client:
        statuses = all_at_once(
            lambda number: client.post(f"battles/{battle.public_id}/vote/", json={"choice": choices[number % 2]})
        )
    assert statuses == {201: 1, 409: 199}
    assert Vote.objects.count() == 1


def test_concurrent_battles_stay_within_budget(address: str, settings: Any):
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "visitor": cents(20)}
    for _ in range(3):
        paid_model()
    actor = make.visitor()
    with browser(address, actor) as client:
        statuses = all_at_once(lambda _: client.post("sessions/", json={"prompt": "x"}))
    assert statuses[201] == Session.objects.count() == 3
    assert accounts()[person_account(actor.key)] == (18, 0)
