"""Sessions in a team: begun there, shared with it, read by its members."""

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import Role, Scope, Team, User
from accounts.teams import actions as team_actions
from battles import actions
from battles.actions import start_session
from battles.errors import InATeam
from battles.models import Battle, ModerationCase, Session, Vote
from battles.prompting.lineup import BattleRequest
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make.user("owner@example.org")


@pytest.fixture
def team(owner: User) -> Team:
    return make.team(owner, slug="physics", name="Physics", members={Role.MEMBER: [make.user("ada@example.org")]})


@pytest.fixture
def battle(owner: User, team: Team, fake_provider: FakeProvider) -> Battle:
    """Battle of the owner in the team, answered and not voted on."""
    for name in ("Gold", "Silver"):
        make.model(at=fake_provider.base_url, name=name)
    begun = start_session(actor=Actor(user=owner), place=team, prompt="one two three")
    make.complete_answers(begun)
    return begun


def member(team: Team) -> User:
    return team.members.get(role=Role.MEMBER).user


def share(battle: Battle) -> str:
    """Return the path of its page for the team."""
    Session.objects.filter(pk=battle.session_id).update(is_shared=True)
    return f"/teams/physics/sessions/{battle.session.public_id}/"


def vote(battle: Battle, owner: User) -> None:
    actions.cast_vote(actor=Actor(user=owner), battle=battle, choice=Vote.Choice.LEFT)


def test_form_names_the_place(owner: User, team: Team, battle: Battle):
    client = make.browser(Actor(user=owner))

    for slug, place in (("physics", team), ("", None)):
        response = client.post("/", {"prompt": "four five", "team": slug})
        session = Session.objects.get(public_id=response.headers["Location"].split("/")[2])
        assert session.team == place


def test_page_of_session_shows_team_and_shares(owner: User, team: Team, battle: Battle):
    client, path = make.browser(Actor(user=owner)), battle.session.get_absolute_url()

    page = client.get(path).content.decode()
    assert "Physics" in page
    assert "Share with the team" in page
    assert 'new-battle" href="/?team=physics"' in page
    assert '<a href="/?team=physics"' in page.split('aria-label="Main"')[1]
    page = client.post(f"{path}share/", {"shared": "1"}, follow=True).content.decode()
    assert "Your team can read this session now." in page
    assert "Stop sharing" in page
    assert Session.objects.get().is_shared
    client.post(f"{path}share/", {"shared": "0"})
    assert not Session.objects.get().is_shared


def test_personal_session_is_not_shared(owner: User, team: Team, battle: Battle):
    personal = Session.objects.create(owner_user=owner)

    response = make.browser(Actor(user=owner)).post(f"{personal.get_absolute_url()}share/", {"shared": "1"})

    assert response.status_code == 400


def test_removed_member_cannot_share_and_reads_why(team: Team, owner: User, battle: Battle):
    ada = member(team)
    session = start_session(actor=Actor(user=ada), place=team, prompt="four five").session
    team_actions.remove_member(by=owner, member=team.members.get(user=ada))
    client = make.browser(Actor(user=User.signed_in.get(pk=ada.pk)))

    assert client.post(f"{session.get_absolute_url()}share/", {"shared": "1"}).status_code == 403
    page = client.get(session.get_absolute_url()).content.decode()
    assert "You are no longer in the team of this session." in page
    assert 'name="prompt"' not in page
    assert "Physics" in client.get("/sessions/").content.decode()


def test_removed_member_is_shown_no_vote(team: Team, owner: User, battle: Battle):
    team_actions.add_member(by=owner, team=team, user=make.user(), role=Role.OWNER)
    client = make.browser(Actor(user=owner))
    assert 'name="choice"' in client.get(battle.session.get_absolute_url()).content.decode()

    team_actions.remove_member(by=owner, member=team.members.get(user=owner))

    client = make.browser(Actor(user=User.signed_in.get(pk=owner.pk)))
    page = client.get(battle.session.get_absolute_url()).content.decode()
    assert "You are no longer in the team of this session." in page
    assert 'name="choice"' not in page
    for path in (f"battles/{battle.public_id}/", f"sessions/{battle.session.public_id}/"):
        body = client.get(f"/api/v1/{path}").json()
        shown = body if "can_vote" in body else body["battles"][0]
        assert [shown[name] for name in ("can_vote", "can_follow_up", "can_regenerate")] == [False] * 3


def test_team_reads_only_shared_sessions(team: Team, owner: User, battle: Battle):
    vote(battle, owner)
    client = make.browser(Actor(user=member(team)))
    path = f"/teams/physics/sessions/{battle.session.public_id}/"

    assert client.get(path).status_code == 404
    assert "one two three" not in client.get("/teams/physics/").content.decode()
    share(battle)
    page = client.get(path).content.decode()
    assert all(text in page for text in ("one two three", "Gold", "Silver", "owner@example.org", "was found better"))
    assert "one two three" in client.get("/teams/physics/").content.decode()


def test_blind_battle_is_not_read_before_the_vote(team: Team, battle: Battle):
    page = make.browser(Actor(user=member(team))).get(share(battle)).content.decode()

    assert "Gold" not in page
    assert "an answer" not in page
    assert "Nothing of this session can be read yet" in page


@pytest.mark.parametrize("who", ["outsider", "guest", "visitor", "removed"])
def test_others_do_not_read_shared_session(team: Team, owner: User, battle: Battle, who: str):
    vote(battle, owner)
    path, person = share(battle), make.user()
    match who:
        case "guest":
            team_actions.add_member(by=owner, team=team, user=person, role=Role.GUEST)
        case "removed":
            person = member(team)
            team_actions.remove_member(by=owner, member=team.members.get(user=person))
    client = make.browser(make.visitor() if who == "visitor" else Actor(user=person))

    assert client.get(path).status_code == {"visitor": 302, "guest": 403}.get(who, 404)


def test_session_of_deleted_account_disappears(team: Team, owner: User, battle: Battle):
    ada = member(team)
    team_actions.set_role(by=owner, member=team.members.get(user=ada), role=Role.OWNER)
    vote(battle, owner)
    path = share(battle)

    delete_account(owner)

    assert make.browser(Actor(user=ada)).get(path).status_code == 404


def test_member_reports_shared_battle(team: Team, owner: User, battle: Battle):
    client, path = make.browser(Actor(user=member(team))), f"/battles/{battle.public_id}/report/"
    assert client.post(path, {"reason": "rude"}).status_code == 404
    vote(battle, owner)
    shown = share(battle)

    assert client.post(path, {"reason": "rude"}).headers["Location"] == shown
    assert ModerationCase.objects.get().battle == battle


def test_battle_of_team_is_not_published(owner: User, battle: Battle):
    vote(battle, owner)
    battle.refresh_from_db()

    with pytest.raises(InATeam):
        actions.publish(battle=battle)
    page = make.browser(Actor(user=owner)).get(battle.session.get_absolute_url()).content.decode()
    assert "Share this battle" not in page


def test_consent_is_not_kept_in_a_team(owner: User, team: Team, battle: Battle, settings):  # type: ignore[no-untyped-def]
    settings.ARENA_PUBLISH_PROMPTS = True

    begun = start_session(
        actor=Actor(user=owner), place=team, prompt="four", battle_request=BattleRequest(consent=True)
    )

    assert Battle.objects.get(pk=begun.pk).consent == ""


def test_api_names_team_of_session(owner: User, team: Team, battle: Battle):
    personal = Session.objects.create(owner_user=owner)
    client, path = make.browser(Actor(user=owner)), f"/api/v1/sessions/{battle.session.public_id}/"

    def listed(query: str) -> list[str]:
        return [session["id"] for session in client.get(f"/api/v1/sessions/{query}").json()["results"]]

    body = client.patch(path, json.dumps({"shared": True}), "application/json").json()
    assert (body["team"], body["shared"]) == ("physics", True)
    assert listed("?team=physics") == [battle.session.public_id]
    assert listed("?team=") == [personal.public_id]
    assert len(listed("")) == 2
    assert client.get("/api/v1/sessions/?team=nothing").status_code == 404
    assert "team" not in client.get(f"/api/v1/sessions/{personal.public_id}/").json()


def test_token_of_team_lists_its_place(owner: User, team: Team, battle: Battle):
    make.team(owner, slug="history")
    client = make.api(owner, scopes=[Scope.READ])
    of_team = make.token(owner, scopes=[Scope.READ], team=team)

    assert client.get("/api/v1/sessions/?team=physics").status_code == 404
    headers = {"Authorization": f"Bearer {of_team}"}
    assert client.get("/api/v1/sessions/?team=physics", headers=headers).json()["count"] == 1
    assert client.get("/api/v1/sessions/?team=history", headers=headers).status_code == 404


def queries(client: Client, path: str) -> int:
    client.get(path)  # fills caches, and records the browser
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize("path", ["/", "/sessions/", "/leaderboard/", "session"])
def test_team_costs_one_query(owner: User, team: Team, battle: Battle, path: str):
    alone = make.user()
    own = start_session(actor=Actor(user=alone), prompt="four five")
    make.complete_answers(own)

    def of(person: User, shown: Battle) -> int:
        page = shown.session.get_absolute_url() if path == "session" else path
        return queries(make.browser(Actor(user=person)), page)

    assert of(owner, battle) == of(alone, own) + 1
