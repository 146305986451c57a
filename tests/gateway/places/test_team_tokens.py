"""Tokens of teams: the place's models, and keys that reach their own servers only."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from accounts.actor import Actor
from accounts.models import ApiToken, Role, Scope, Team
from accounts.teams.actions import remove_member
from models_registry.teams.actions import use_site_models
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import ASKED, openai_client

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-of-the-physicists-4711"


@pytest.fixture
def team() -> Team:
    return make.team(slug="physics")


@pytest.fixture
def of_team(team: Team, address: str, owner: Actor) -> Iterator[OpenAI]:
    """Client with a token of the team, of a member."""
    team.members.create(user=owner.user, role=Role.MEMBER)
    _row, token = ApiToken.issue(user=owner.user, name="t", scopes=[Scope.GATEWAY], team=team)
    with openai_client(address, token) as client:
        yield client


@pytest.fixture
def other_server() -> Iterator[FakeProvider]:
    provider = FakeProvider().start()
    yield provider
    provider.stop()


def names(client: OpenAI) -> set[str]:
    return {model.id for model in client.models.list() if model.created}


def asked(client: OpenAI, name: str) -> Any:
    return client.chat.completions.create(model=name, messages=ASKED)


def authorizations(server: FakeProvider) -> set[str]:
    return {headers["Authorization"] for headers in server.headers}


def test_token_lists_and_names_the_models_of_its_place(
    client: OpenAI, of_team: OpenAI, team: Team, fake_provider: FakeProvider
):
    make.model(slug="ada", at=fake_provider.base_url)
    make.model(slug="bert", at=fake_provider.base_url)
    make.team_model(team, slug="bert", at=fake_provider.base_url)

    assert names(of_team) == {"physics~bert", "ada"}
    assert names(client) == {"ada", "bert"}
    for name, model in (("physics~bert", "physics~bert"), ("bert", "physics~bert"), ("ada", "ada")):
        assert asked(of_team, name).model == model
        assert of_team.models.retrieve(name).id == model
    assert asked(client, "bert").model == "bert"
    with pytest.raises(openai.NotFoundError) as of_other_place:
        asked(client, "physics~bert")
    with pytest.raises(openai.NotFoundError) as unknown:
        asked(client, "physics~none")
    assert str(of_other_place.value) == str(unknown.value).replace("none", "bert")


def test_key_reaches_its_own_server_only(
    client: OpenAI, of_team: OpenAI, team: Team, fake_provider: FakeProvider, other_server: FakeProvider
):
    make.model(slug="ada", at=other_server.base_url)
    own = make.team_model(team, slug="bert", at=fake_provider.base_url)
    own.provider.store_key(KEY)
    own.provider.needs_key = True
    own.provider.save()

    for caller, name in ((of_team, "bert"), (of_team, "ada"), (client, "ada")):
        asked(caller, name)
    assert asked(of_team, "auto").model in ("physics~bert", "ada")

    assert authorizations(fake_provider) == {f"Bearer {KEY}"}
    assert authorizations(other_server) == {"Bearer none"}


@pytest.mark.usefixtures("fake_provider")
def test_auto_stays_in_the_place(client: OpenAI, of_team: OpenAI, team: Team, fake_provider: FakeProvider):
    make.model(slug="ada", at=fake_provider.base_url, weight=1)
    make.team_model(team, slug="bert", at=fake_provider.base_url, weight=9)
    use_site_models(by=make.user(), team=team, uses=False)

    assert asked(of_team, "auto").model == "physics~bert"
    assert asked(client, "auto").model == "ada"


def test_token_of_removed_member_works_no_more(of_team: OpenAI, team: Team, owner: Actor):
    make.team_model(team)
    assert len(names(of_team)) == 1
    remove_member(by=make.user(), member=team.members.get(user=owner.user))
    with pytest.raises(openai.AuthenticationError):
        of_team.models.list()
