"""After a vote in a team, the models' places are those of the team's board."""

import re

import pytest

from accounts.actor import Actor
from accounts.models import Role, Team, User
from battles.actions import cast_vote, start_session
from battles.models import Battle, Vote
from leaderboard.payload_types import PlacePayload
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.leaderboard.vote_factory import cast_many, contestants
from tests.pages import compact

pytestmark = pytest.mark.django_db


@pytest.fixture
def member() -> User:
    return make.user()


@pytest.fixture
def team(member: User) -> Team:
    return make.team(name="Physics", slug="physics", members={Role.MEMBER: [member]})


@pytest.fixture
def pair(team: Team) -> list[LanguageModel]:
    """Two models; on the site the first one leads, in the team the second one."""
    pair = contestants("gold", "silver")
    cast_many(*pair, left=30, right=10)
    cast_in(team, pair, left=10, right=30)
    aggregate()
    return pair


def voted(member: User, team: Team | None) -> Battle:
    actor = Actor(user=member)
    battle = start_session(actor=actor, prompt="one two three", place=team)
    make.complete_answers(battle)
    return cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE).battle


def page_of(member: User, battle: Battle) -> str:
    return compact(make.browser(Actor(user=member)).get(battle.session.get_absolute_url()).text)


def scores(page: str) -> list[str]:
    return re.findall(r"<dt>(Score[^<]*)</dt>", page)


def ranks(sides: list[PlacePayload]) -> dict[str, int | None]:
    return {side["model"]["id"]: side["rank"] for side in sides}


def test_places_are_those_of_the_teams_board(member: User, team: Team, pair):
    battle = voted(member, team)
    client = make.browser(Actor(user=member))
    places = client.get(f"/api/v1/leaderboard/battles/{battle.public_id}/").json()["sides"]
    assert ranks(places) == {"gold": 2, "silver": 1}
    assert all(place.keys() == PlacePayload.__annotations__.keys() for place in places)
    page = page_of(member, battle)
    assert scores(page) == ["Score in the team"] * 2
    assert "Live Elo" not in page
    assert 'href="/leaderboard/models/gold/?team=physics"' in page
    assert 'href="/leaderboard/?team=physics"' in page


def test_sites_places_are_beside_if_the_vote_counts_there(member: User, team: Team, pair):
    team.counts_on_site_boards = True
    team.save()
    battle = voted(member, team)
    page = page_of(member, battle)
    assert sorted(scores(page)) == ["Score in the team"] * 2 + ["Score on the site"] * 2
    assert page.count("Live Elo") == 2
    places = make.browser(Actor(user=member)).get(f"/api/v1/leaderboard/battles/{battle.public_id}/").json()["sides"]
    assert ranks(places) == {"gold": 2, "silver": 1}


def test_personal_vote_has_the_sites_places(member: User, team: Team, pair):
    battle = voted(member, None)
    page = page_of(member, battle)
    assert scores(page) == ["Score"] * 2
    assert 'href="/leaderboard/models/gold/"' in page
    assert 'href="/leaderboard/"' in page


def test_removed_member_sees_no_places_of_the_team(member: User, team: Team, pair):
    battle = voted(member, team)
    team.members.filter(user=member).delete()
    page = page_of(member, battle)
    assert scores(page) == []
    assert "/leaderboard/?team=" not in page
    client = make.browser(Actor(user=member))
    places = client.get(f"/api/v1/leaderboard/battles/{battle.public_id}/").json()["sides"]
    assert [(place["score"], place["rank"], place["elo"]) for place in places] == [(None, None, None)] * 2


def test_own_model_has_its_place(member: User, team: Team):
    team.uses_site_models = False
    team.save()
    cast_in(team, [make.team_model(team, slug="fox"), make.team_model(team, slug="owl")], left=40, right=5)
    aggregate()
    battle = voted(member, team)
    client = make.browser(Actor(user=member))
    places = client.get(f"/api/v1/leaderboard/battles/{battle.public_id}/").json()["sides"]
    assert ranks(places) == {"physics~fox": 1, "physics~owl": 2}
    assert 'href="/leaderboard/models/physics~fox/?team=physics"' in page_of(member, battle)


def test_start_page_links_to_the_board_of_its_place(member: User, team: Team, pair):
    client = make.browser(Actor(user=member))
    assert 'href="/leaderboard/?team=physics"' in compact(client.get("/", {"team": "physics"}).text)
    assert 'href="/leaderboard/"' in compact(client.get("/", {"team": ""}).text)
