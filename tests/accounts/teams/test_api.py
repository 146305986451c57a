"""Teams in the API."""

import json

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import ApiToken, Role, Team, TeamMember, User
from tests import make

pytestmark = pytest.mark.django_db
TEAMS = "/api/v1/teams/"


def browser(user: User) -> Client:
    return make.browser(Actor(user=user))


def send(client: Client, method: str, path: str, body: object = None) -> tuple[int, dict]:  # type: ignore[type-arg]
    response = getattr(client, method)(f"/api/v1/{path}", json.dumps(body), "application/json")
    return response.status_code, response.json() if response.content else {}


def test_own_teams_are_listed():
    person = make.user()
    make.team(slug="history")
    make.team(slug="physics", name="Physics", colour="teal", members={Role.MANAGER: [person]})

    (team,) = browser(person).get(TEAMS).json()["results"]

    assert team.pop("created_at")
    assert team == {"slug": "physics", "name": "Physics", "colour": "teal", "role": "manager", "members": 2}


@pytest.mark.parametrize(("setting", "staff", "status"), [
    ("administrators", False, 403), ("administrators", True, 201), ("members", False, 201),
])  # fmt: skip
def test_team_is_created_by_whom_the_setting_names(settings, setting: str, staff: bool, status: int):  # type: ignore[no-untyped-def]
    settings.ARENA_TEAMS = setting
    person = make.user(is_staff=staff, is_superuser=staff)

    got, body = send(browser(person), "post", "teams/", {"name": "Physics", "slug": "physics"})

    assert got == status
    if status == 201:
        assert (body["slug"], body["role"], body["colour"]) == ("physics", "owner", "blue")


@pytest.mark.parametrize("change", [
    {"slug": "admin"}, {"slug": "taken"}, {"slug": "x" * 300}, {"slug": "فيزياء"}, {"slug": "A"}, {"slug": None},
    {"name": ""}, {"name": "x" * 300}, {"name": "a\x00"}, {"name": "\ud800"}, {"colour": "pink"}, {"name": ["a"]},
])  # fmt: skip
def test_bad_change_is_refused(change: dict[str, object]):
    owner = make.user()
    make.team(slug="taken")
    make.team(owner, slug="physics", name="Physics")

    status, body = send(browser(owner), "patch", "teams/physics/", change)

    assert (status, body["code"], list(body["fields"])) == (400, "invalid", list(change))
    assert Team.objects.get(slug="physics").name == "Physics"


def test_role_of_member_decides():
    person = make.user()
    team = make.team(slug="physics", members={Role.MANAGER: [person]})
    own, client = team.members.get(user=person), browser(person)

    for method, path, body in [
        ("patch", "", {"name": "Mine"}),
        ("patch", f"members/{own.public_id}/", {"role": "owner"}),
        ("delete", f"members/{team.members.get(role='owner').public_id}/", None),
        ("post", "invitations/", {"role": "member"}),
    ]:
        assert send(client, method, f"teams/physics/{path}", body)[0] == 403
    assert client.get(f"{TEAMS}physics/invitations/").status_code == 403
    assert client.get(f"{TEAMS}physics/members/").json()["count"] == 2
    assert send(client, "delete", f"teams/physics/members/{own.public_id}/")[0] == 204
    assert not TeamMember.objects.filter(user=person).exists()


def test_last_owner_is_refused_with_advice():
    owner, manager = make.user(), make.user("manager@example.org")
    team = make.team(owner, slug="physics", members={Role.MANAGER: [manager]})
    own = team.members.get(user=owner)

    status, body = send(browser(owner), "delete", f"teams/physics/members/{own.public_id}/")

    assert (status, body["code"]) == (409, "last_owner")
    assert "manager@example.org" in body["detail"]


@pytest.mark.parametrize("body", [
    {"role": "king"}, {"role": "member", "uses": 0}, {"role": "member", "uses": 1001}, {"role": "member", "days": 0},
    {"role": "member", "days": 366}, {"role": "member", "email": "x"}, {},
    {"role": "member", "uses": 2, "email": "a@example.org"}, {"role": "member", "uses": 10**12},
])  # fmt: skip
def test_bad_invitation_is_refused(body: dict[str, object]):
    owner = make.user()
    make.team(owner, slug="physics")

    assert send(browser(owner), "post", "teams/physics/invitations/", body)[0] == 400


def test_token_reads_its_team_and_changes_nothing():
    owner = make.user()
    team = make.team(owner, slug="physics")
    make.team(owner, slug="history")
    client = Client(headers={"Authorization": f"Bearer {make.token(owner, team=team)}"})

    assert [row["slug"] for row in client.get(TEAMS).json()["results"]] == ["physics"]
    assert client.get(f"{TEAMS}history/").status_code == 404
    for method, path in [("post", ""), ("patch", "physics/"), ("post", "physics/invitations/")]:
        assert send(client, method, f"teams/{path}", {})[0] == 403
    assert make.api(owner).get(TEAMS).json()["results"] == []


def test_token_is_made_for_a_team():
    person = make.user()
    team = make.team(slug="physics", members={Role.MEMBER: [person], Role.GUEST: [guest := make.user()]})
    body = {"name": "t", "scopes": ["read"], "team": "physics"}

    status, made = send(browser(person), "post", "me/tokens/", body)

    assert (status, made["team"], ApiToken.objects.get().team) == (201, "physics", team)
    assert send(browser(guest), "post", "me/tokens/", body)[0] == 403
    assert send(browser(make.user()), "post", "me/tokens/", body)[0] == 404
    assert "team" not in send(browser(person), "post", "me/tokens/", {**body, "team": ""})[1]


def test_page_of_tokens_names_their_team():
    person = make.user()
    team = make.team(person, slug="physics", name="Physics")
    client = browser(person)

    made = client.post("/accounts/tokens/", {"name": "t", "scopes": ["read"], "days": "30", "team": "physics"})

    assert made.status_code == 201
    assert ApiToken.objects.get().team == team
    assert "<bdi>Physics</bdi></div>" in client.get("/accounts/tokens/").content.decode()
    assert 'name="team"' not in browser(make.user()).get("/accounts/tokens/").content.decode()


def test_own_data_names_memberships():
    person = make.user()
    make.team(slug="physics", name="Physics", members={Role.GUEST: [person]})

    (team,) = browser(person).get("/api/v1/me/export/").json()["teams"]

    assert team.pop("joined_at")
    assert team == {"slug": "physics", "name": "Physics", "role": "guest"}
    assert "teams" not in browser(make.user()).get("/api/v1/me/export/").json()
