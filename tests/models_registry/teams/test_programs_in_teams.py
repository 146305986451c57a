"""Quotas of members for programs: tokens of a team at /v1 and in auto mode."""

from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI, RateLimitError

from accounts.models import Role, Team, User
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, openai_client, settled
from tests.models_registry.paid_models import accounts, cents, paid_model
from tests.site import serve
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person() -> User:
    return make.user()


@pytest.fixture
def team(person: User) -> Team:
    return make.team(make.user("owner@example.org"), members={Role.MEMBER: [person]})


@pytest.fixture
def client(person: User, team: Team) -> Iterator[OpenAI]:
    with serve() as address, openai_client(address, make.token(person, team=team)) as client:
        yield client


def ask(client: OpenAI, model: str) -> None:
    client.chat.completions.create(model=model, messages=ASKED)
    wait_for(settled)


def test_token_of_a_team_spends_the_members_quota(
    fake_provider: FakeProvider, client: OpenAI, team: Team, person: User
):
    model = paid_model(at=fake_provider.base_url)
    Team.objects.filter(pk=team.pk).update(member_month_budget=cents(5))
    ask(client, model.slug)
    spent = accounts()
    member = f"team:{team.pk}/user:{person.pk}"
    assert spent[member] == spent[f"team:{team.pk}"] == spent[f"team:{team.pk}/month"] == spent["site"]
    assert spent[member][0] == 0 < spent[member][1]
    Team.objects.filter(pk=team.pk).update(member_month_budget=cents(2))
    with pytest.raises(RateLimitError, match=r"You have used up your quota.*owner@example\.org"):
        ask(client, model.slug)
    asked = {"prompt": "Hello", "models": [model.slug]}
    client_of_api = make.browser(make.visitor(), headers={"Authorization": f"Bearer {make.token(person, team=team)}"})
    routed = client_of_api.post("/api/v1/route/", asked, "application/json")
    assert (routed.status_code, routed.json()["code"]) == (429, "budget_reached")
    assert "You have used up your quota" in routed.json()["detail"]


def test_requests_to_free_models_count_once_with_fallbacks(
    fake_provider: FakeProvider, client: OpenAI, team: Team, person: User, settings: Any
):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    make.model("malformed", at=fake_provider.base_url, weight=3)
    make.model(at=fake_provider.base_url)
    Team.objects.filter(pk=team.pk).update(member_month_requests=2)
    for _ in range(2):
        ask(client, "auto")
    assert accounts()[f"team:{team.pk}/user:{person.pk}/requests"] == (200, 0)
    with pytest.raises(RateLimitError, match="all the requests"):
        ask(client, "auto")
    Team.objects.filter(pk=team.pk).update(member_month_requests=3)
    ask(client, "auto")
