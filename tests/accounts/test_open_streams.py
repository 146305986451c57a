"""A stream ends within seconds after its token or person has lost the right to it."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.contrib.sessions.models import Session as BrowserSession
from django.db import OperationalError, ProgrammingError
from django.db.models.functions import Now

from accounts import open_streams
from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import ApiToken, Ban, Role, Scope, Team, User
from accounts.open_streams import StreamRight, find_lost
from accounts.teams import actions as team_actions
from battles.models import Battle, Call
from gateway.models import Exchange
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import PAUSE, FakeProvider
from tests.models_registry.paid_models import A_CENT_A_TOKEN, accounts
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
PROMPT = f"one two three {PAUSE} four five six"


@pytest.fixture(autouse=True)
def _interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_streams, "INTERVAL_S", 0.1)


@pytest.fixture(autouse=True)
def _models(fake_provider: FakeProvider) -> None:
    for name in ("slow", "slow"):
        make.model(name, at=fake_provider.base_url)


@pytest.fixture
def member() -> User:
    return make.user("member@example.org")


def revoke(member: User) -> None:
    ApiToken.objects.get().revoke()


def delete_token(member: User) -> None:
    ApiToken.objects.all().delete()


def expire(member: User) -> None:
    ApiToken.objects.update(expires_at=Now())


def narrow(member: User) -> None:
    ApiToken.objects.update(scopes=[Scope.EXPORT])


def block(member: User) -> None:
    Ban.objects.create(user=member, reason="Advertising.")


def deactivate(member: User) -> None:
    User.objects.filter(pk=member.pk).update(is_active=False)


def delete(member: User) -> None:
    delete_account(member)


def change_password(member: User) -> None:
    member.set_password("another-good-password")
    member.save()


def sign_out(member: User) -> None:
    BrowserSession.objects.all().delete()


OF_PEOPLE = [block, deactivate, delete]
OF_TOKENS = [revoke, delete_token, expire, narrow, *OF_PEOPLE]
OF_BROWSERS = [change_password, sign_out, *OF_PEOPLE]


def token_reader(site: str, member: User, scopes: Any = tuple(Scope)) -> Reader:
    return Reader(site, make.token(member, scopes=scopes))


def browser_reader(site: str, member: User) -> Reader:
    reader = Reader(site)
    cookies = make.browser(Actor(user=member)).cookies
    reader.client.cookies.update({name: cookie.value for name, cookie in cookies.items()})
    return reader


def names_until_lost(
    reader: Reader, url: str, member: User, fake_provider: FakeProvider, lose: Callable[[User], Any]
) -> list[str]:
    """Read a stream whose models pause, then lose the right; return the names of later events."""
    events: Iterator[Any] = reader.follow(url)
    text = ""
    while text.count("three") < 2:
        text += next(events)[2]
    wait_for(lambda: fake_provider.paused == 2)
    lose(member)
    return [name for _, name, _ in events]


@pytest.mark.parametrize("lose", OF_TOKENS)
def test_stream_of_a_token_ends(site: str, member: User, fake_provider: FakeProvider, lose: Any):
    reader = token_reader(site, member)
    battle = reader.start_battle(PROMPT)
    names = names_until_lost(reader, battle["stream_url"], member, fake_provider, lose)
    assert (names, fake_provider.paused) == (["end"], 2)
    stranger = Reader(site)  # the address alone is of no more use
    assert [name for _, name, _ in stranger.follow(battle["stream_url"])][-1] == "end"
    assert fake_provider.paused == 2
    fake_provider.go_on()


@pytest.mark.parametrize("lose", OF_BROWSERS)
def test_stream_of_a_page_ends(site: str, member: User, fake_provider: FakeProvider, lose: Any):
    reader = browser_reader(site, member)
    battle = reader.start_battle(PROMPT)
    names = names_until_lost(reader, battle["stream_url"], member, fake_provider, lose)
    assert (names, fake_provider.paused) == (["end"], 2)
    fake_provider.go_on()


def remove(team: Team, member: User) -> None:
    team_actions.remove_member(by=member, member=team.members.get(user=member))


def demote(team: Team, member: User) -> None:
    team_actions.set_role(by=member, member=team.members.get(user=member), role=Role.GUEST)


def archive(team: Team, member: User) -> None:
    team_actions.archive_team(by=member, team=team)


OF_TEAMS = pytest.mark.parametrize("lose", [remove, demote, archive])


@OF_TEAMS
def test_stream_of_lost_team_member_ends(site: str, member: User, fake_provider: FakeProvider, lose: Any):
    team = make.team(members={Role.MEMBER: [member]})
    token = ApiToken.issue(user=member, name="t", scopes=list(Scope), team=team)[1]
    reader = browser_reader(site, member)
    started = Reader(site, token).start_battle(PROMPT)
    url = reader.client.get(f"/api/v1/battles/{started['id']}/").json()["stream_url"]

    assert names_until_lost(reader, url, member, fake_provider, partial(lose, team)) == ["end"]
    fake_provider.go_on()


@OF_TEAMS
def test_gateway_answer_of_lost_team_member_ends(site: str, member: User, fake_provider: FakeProvider, lose: Any):
    team = make.team(members={Role.MEMBER: [member]})
    reader = Reader(site, make.token(member, team=team))
    model = make.model("slow", at=fake_provider.base_url)
    body = {"model": model.slug, "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(reader.post, "/v1/chat/completions", json=body)
        wait_for(lambda: fake_provider.paused == 1)
        lose(team, member)
        assert "not_authenticated" in answer.result().text
    assert reader.get("/v1/models").status_code == 401
    assert reader.api("GET", "sessions/").status_code == 401


def test_stream_of_a_blocked_visitor_ends(site: str, fake_provider: FakeProvider):
    reader = Reader(site)
    battle = reader.start_battle(PROMPT)
    visitor = Battle.objects.get().session.owner_visitor
    names = names_until_lost(
        reader, battle["stream_url"], make.user(), fake_provider,
        lambda _: Ban.objects.create(visitor=visitor, reason="x"),
    )  # fmt: skip
    assert (names, fake_provider.paused) == (["end"], 2)
    fake_provider.go_on()


@pytest.mark.parametrize("failure", [OperationalError("no database"), ProgrammingError("no such column")])
def test_failed_check_is_repeated(
    site: str, member: User, fake_provider: FakeProvider, monkeypatch: Any, failure: Exception
):
    checks: list[int] = []

    def find(rights: Any) -> Any:
        checks.append(len(rights))
        if len(checks) < 3:
            raise failure
        return find_lost(rights)

    monkeypatch.setattr(open_streams, "find_lost", find)
    reader = token_reader(site, member)
    battle = reader.start_battle(PROMPT)
    names = names_until_lost(reader, battle["stream_url"], member, fake_provider, revoke)
    assert (names, fake_provider.paused) == (["end"], 2)
    assert len(checks) > 2
    fake_provider.go_on()


def test_streams_of_others_go_on(site: str, member: User, fake_provider: FakeProvider, monkeypatch: Any):
    looks: list[int] = []

    def find(rights: Any) -> Any:
        looks.append(len(rights))
        return find_lost(rights)

    monkeypatch.setattr(open_streams, "find_lost", find)
    ApiToken.issue(user=member, name="another", scopes=list(Scope))[0].revoke()
    Ban.objects.create(user=make.user(), reason="x")
    for reader in (token_reader(site, member), browser_reader(site, member)):
        fake_provider.forget()
        battle = reader.start_battle(PROMPT)
        events = reader.follow(battle["stream_url"])
        text = ""
        while text.count("three") < 2:
            text += next(events)[2]
        so_far = len(looks)
        wait_for(lambda so_far=so_far: len(looks) > so_far + 3)
        fake_provider.go_on()
        rest = [(name, data) for _, name, data in events]
        assert rest[-1][0] == "end"
        assert "six" in str(rest)


@pytest.mark.parametrize("lose", OF_TOKENS)
@pytest.mark.parametrize("is_stream", [True, False])
def test_gateway_answer_ends_and_is_settled(
    site: str, member: User, fake_provider: FakeProvider, lose: Any, is_stream: bool
):
    model = make.model("slow", at=fake_provider.base_url)
    set_price(model, Decimal(0), A_CENT_A_TOKEN)
    reader = token_reader(site, member)
    body = {"model": model.slug, "stream": is_stream, "messages": [{"role": "user", "content": PROMPT}]}
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(reader.post, "/v1/chat/completions", json=body)
        wait_for(lambda: fake_provider.paused == 1)
        lose(member)
        response = answer.result()
    assert (response.status_code, "not_authenticated" in response.text) == (200 if is_stream else 401, True)
    assert ("three" in response.text) is is_stream
    wait_for(lambda: not Call.objects.unfinished().exists())
    assert fake_provider.paused == 0
    assert [(call.state, call.completion_tokens) for call in Call.objects.all()] == [("stopped", 3)]
    assert accounts()["site"] == (0, 3)
    assert Exchange.objects.count() == 1


def test_gateway_battle_ends(site: str, member: User, fake_provider: FakeProvider):
    token = make.token(member, scopes=[Scope.GATEWAY], keeps_texts=True)
    body = {"model": "battle", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(Reader(site, token).post, "/v1/chat/completions", json=body)
        wait_for(lambda: fake_provider.paused == 2)
        revoke(member)
        assert "not_authenticated" in answer.result().text
    assert fake_provider.paused == 2  # the battle is stored, and goes on
    fake_provider.go_on()


def test_rights_of_many_streams_are_read_in_four_queries(django_assert_max_num_queries: Any, member: User):
    rights = [StreamRight(person=f"user:{make.user().pk}", session_key="x" * 32) for _ in range(20)]
    rights += [StreamRight(person=f"user:{member.pk}", token=number) for number in range(1, 21)]
    with django_assert_max_num_queries(4):
        assert find_lost(rights) == set(rights)
    with django_assert_max_num_queries(1):
        assert find_lost([StreamRight(), StreamRight(person="visitor:1")]) == set()


def test_block_before_the_stream_leaves_reading(member: User):
    Ban.objects.create(user=member, reason="x")
    before, after = time.time() - 60, time.time() + 60
    rights = [StreamRight(person=f"user:{member.pk}", since=since) for since in (before, after)]
    assert find_lost(rights) == {rights[0]}


def test_stream_of_staff_ends_with_their_rights(moderator: User):
    right = StreamRight(person=f"user:{moderator.pk}", needs_staff=True)
    assert find_lost([right]) == set()
    User.objects.filter(pk=moderator.pk).update(is_staff=False)
    assert find_lost([right]) == {right}
