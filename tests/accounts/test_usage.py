"""What is left of a person's limits: headers of the API, me/ and the page."""

from decimal import Decimal

import pytest
from django.test import Client

from accounts.models import Scope
from battles import actions
from battles.models import Call, Vote
from models_registry import spending
from tests import make
from tests.models_registry.paid_models import paid_model

pytestmark = pytest.mark.django_db
ME, PAGE = "/api/v1/me/", "/accounts/limits/"
NETWORK_BADGE = '<span class="badge">your network</span>'


@pytest.fixture
def _few_battles(settings) -> None:
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {
        ("battle", "visitor"): "2/hour,9/day", ("battle", "network"): "3/hour"
    }  # fmt: skip
    make.model(), make.model()


def start(client: Client) -> dict[str, str]:
    response = client.post("/api/v1/sessions/", {"prompt": "hello"}, "application/json")
    names = ("RateLimit-Policy", "RateLimit", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
    return {name: response.headers.get(name, "") for name in names} | {"status": str(response.status_code)}


@pytest.mark.usefixtures("_few_battles")
def test_headers_tell_what_is_left():
    client = Client()
    first = start(client)
    assert first["RateLimit-Policy"] == '"battle-hour";q=2;w=3600, "battle-day";q=9;w=86400'
    assert first["RateLimit"] in (
        '"battle-hour";r=1;t=3600, "battle-day";r=8;t=86400',
        '"battle-hour";r=1;t=3599, "battle-day";r=8;t=86399',
    )
    assert (first["RateLimit-Limit"], first["RateLimit-Remaining"], first["status"]) == ("2", "1", "201")
    start(client)
    refused = start(client)
    assert (refused["status"], refused["RateLimit-Remaining"]) == ("429", "0")
    assert 3590 <= int(refused["RateLimit-Reset"]) <= 3600


@pytest.mark.usefixtures("_few_battles")
def test_headers_name_a_network_only_when_it_is_full():
    for _ in range(2):
        assert "network" not in start(Client())["RateLimit"]
    assert '"battle-network-hour";r=0;t=' in start(Client())["RateLimit"]


def test_reading_is_limited_and_shared_responses_have_no_headers(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("read", "member"): "3/minute"}
    member = make.user()
    bearer = make.bearer(member, scopes=[Scope.READ])
    read = [Client().get("/api/v1/sessions/", headers=bearer) for _ in range(4)]
    assert [response.status_code for response in read] == [200, 200, 200, 429]
    assert [response.headers["RateLimit-Remaining"] for response in read] == ["2", "1", "0", "0"]
    assert 0 < int(read[3].headers["Retry-After"]) <= 60
    assert read[3].json()["code"] == "rate_limited"
    assert "RateLimit" not in Client().get("/api/v1/boards/").headers


@pytest.mark.usefixtures("_few_battles")
def test_me_and_page_show_used_and_left():
    client = Client()
    start(client)
    usage = {(row["action"], row["window_s"]): row for row in client.get(ME).json()["limits"]}
    assert {name: usage["battle", 3600][name] for name in ("who", "limit", "used", "remaining")} == {
        "who": "person", "limit": 2, "used": 1, "remaining": 1,
    }  # fmt: skip
    assert usage["battle", 86400]["remaining"] == 8
    assert usage["vote", 3600]["used"] == 0
    page = client.get(PAGE).text
    assert "New battles" in page
    assert "2 in 1 hour" in page.replace("\xa0", " ")
    assert NETWORK_BADGE not in page
    for _ in range(2):
        start(Client())
    assert NETWORK_BADGE in client.get(PAGE).text
    assert {row["who"] for row in client.get(ME).json()["limits"]} == {"person", "network"}


@pytest.mark.usefixtures("no_valkey")
def test_page_without_valkey_says_so(client: Client):
    assert "Your limits cannot be read at the moment." in client.get(PAGE).text
    assert client.get(ME).json()["limits"] == []


def test_spending_shows_a_blind_answer_after_its_vote(settings):
    settings.ARENA_BUDGETS = settings.ARENA_BUDGETS | {"member": Decimal(5)}
    settings.ARENA_DAILY_VOTES = {"person": 100, "network": 0}
    member = make.member()
    battle = make.answered_battle(paid_model(), make.model(), actor=member)
    answer = battle.turns.get().answers.get(side__position="left")
    charge = spending.bill(answer.side.model, [{"role": "user", "content": "hello"}], person=member.key)
    [charge] = spending.reserve([charge])
    spending.settle({charge.pk: Decimal("0.02")})
    answer.call = Call.objects.create(
        answer=answer, model=answer.side.model, attempt=1, fence=1, charge=charge, cost=Decimal("0.02")
    )
    answer.save()
    browser = make.browser(member)

    def today() -> dict:
        return {name: browser.get(ME).json()["today"][name] for name in ("spent", "budget", "votes", "vote_cap")}

    assert today() == {"spent": "0", "budget": "5", "votes": 0, "vote_cap": 100}
    actions.cast_vote(actor=member, battle=battle, choice=Vote.Choice.LEFT)
    assert today() == {"spent": "0.02", "budget": "5", "votes": 1, "vote_cap": 100}
    page = browser.get(PAGE).text
    assert "$0.02" in page
    assert "of $5" in page
