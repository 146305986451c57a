"""Links into a team: made, opened by members and visitors, used up."""

from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Ban, Invitation, Role, Team, User
from accounts.teams import actions
from tests import make

pytestmark = pytest.mark.django_db
PASSWORD = "a-good-password-1"
INVITATION = {"role": "member", "uses": "40", "days": "7", "email": ""}


def browser(user: User) -> Client:
    return make.browser(Actor(user=user))


def link(team: Team, **fields: object) -> str:
    """Return the path of a new link."""
    owner = team.members.get(role=Role.OWNER).user
    soon = timezone.now() + timedelta(days=1)
    asked = {"role": Role.MEMBER, "uses": 1, "expires_at": soon, **fields}
    token = actions.invite(by=owner, team=team, **asked)[1]  # type: ignore[arg-type]
    return f"/teams/join/?invitation={token}"


def token_of(path: str) -> str:
    return parse_qs(urlsplit(path).query)["invitation"][0]


def sign_up(path: str, email: str, **client: str) -> Client:
    visitor = Client(**client)  # type: ignore[arg-type]
    visitor.post(f"/accounts/signup/?{urlsplit(path).query}", {
        "email": email, "password1": PASSWORD, "invitation": token_of(path), "next": path,
    })  # fmt: skip
    return visitor


def test_owner_makes_link_that_is_shown_once():
    owner = make.user()
    make.team(owner, slug="physics")
    client = browser(owner)

    made = client.post("/teams/physics/invitations/", INVITATION)

    assert made.status_code == 201
    assert "http://testserver/teams/join/?invitation=" in made.content.decode()
    page = client.get("/teams/physics/invitations/").content.decode()
    assert "40 uses left" in page
    assert "invitation=" not in page
    invitation = Invitation.objects.get()
    client.post(f"/teams/physics/invitations/{invitation.public_id}/revoke/")
    assert not Invitation.objects.open().exists()
    assert client.post(f"/teams/physics/invitations/{invitation.public_id}/revoke/").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"role": "king"}, {"uses": "0"}, {"uses": "1001"}, {"uses": "x"}, {"days": "0"}, {"days": "366"},
        {"email": "x"}, {"email": "a@example.org"}, {"role": ""},
    ],
)  # fmt: skip
def test_bad_link_is_refused(change: dict[str, str]):
    owner = make.user()
    make.team(owner, slug="physics")

    assert browser(owner).post("/teams/physics/invitations/", {**INVITATION, **change}).status_code == 422
    assert not Invitation.objects.exists()


def test_member_sees_team_and_role_and_joins():
    person = make.user()
    team = make.team(slug="physics", name="Physics")
    path, client = link(team, role=Role.MANAGER), browser(person)

    page = client.get(path).content.decode()
    assert "Physics" in page
    assert "Your role: manager." in page
    joined = client.post("/teams/join/", {"invitation": token_of(path)})
    assert joined.headers["Location"] == "/teams/physics/"
    assert team.members.get(user=person).role == Role.MANAGER
    assert client.session["place"] == team.pk
    assert client.get(path).headers["Location"] == "/teams/physics/"
    assert browser(make.user()).get(path).status_code == 409


def test_member_of_the_team_goes_on_to_it():
    person = make.user()
    team = make.team(slug="physics", members={Role.MEMBER: [person]})

    assert browser(person).get(link(team)).headers["Location"] == "/teams/physics/"


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("end", ["used_at", "revoked_at", "expires_at"])
def test_member_goes_on_to_it_by_an_ended_link(end: str, method: str):
    person = make.user()
    team = make.team(slug="physics", members={Role.MEMBER: [person]})
    path = link(team)
    Invitation.objects.update(**{end: timezone.now()})

    response = getattr(browser(person), method)("/teams/join/", {"invitation": token_of(path)})

    assert response.headers["Location"] == "/teams/physics/"
    actions.remove_member(by=team.created_by, member=team.members.get(user=person))
    assert getattr(browser(person), method)("/teams/join/", {"invitation": token_of(path)}).status_code == 409


def test_guest_goes_on_to_the_list():
    path = link(make.team(slug="physics"), role=Role.GUEST)

    assert browser(make.user()).post("/teams/join/", {"invitation": token_of(path)}).headers["Location"] == "/teams/"


@pytest.mark.parametrize("access", ["open", "members", "private"])
def test_visitor_signs_up_and_is_in_the_team(settings, access: str):  # type: ignore[no-untyped-def]
    settings.ARENA_ACCESS, settings.ARENA_SIGNUP = access, "invitation"
    team = make.team(slug="physics")
    path = link(team)

    page = unescape(Client().get(path).content.decode())
    assert f'href="/accounts/signup/?invitation={token_of(path)}&next=%2Fteams%2Fjoin%2F%3Finvitation%3D' in page
    client = sign_up(path, "new@example.org")
    assert team.members.get(user__email="new@example.org").role == Role.MEMBER
    assert client.get(path).headers["Location"] == "/teams/physics/"  # sign-up leads there, with the last use gone
    assert client.get("/teams/physics/").status_code == 200
    assert client.session["place"] == team.pk


def test_visitor_signs_in_and_comes_back():
    person = make.user("ada@example.org")
    path = link(make.team())
    client = Client()

    login = unescape(client.get(path).content.decode()).split('href="/accounts/login/')[1].split('"')[0]
    response = client.post(
        f"/accounts/login/{login}",
        {"login": person.email, "password": "a-good-password", "next": path},
    )

    assert response.headers["Location"] == path
    assert "Join" in client.get(path).content.decode()


def test_closed_arena_says_that_it_takes_no_accounts(settings):  # type: ignore[no-untyped-def]
    settings.ARENA_SIGNUP = "closed"

    page = Client().get(link(make.team())).content.decode()

    assert "This arena takes no new accounts." in page
    assert "/accounts/signup/" not in page


def test_visitor_does_not_join_without_account():
    path = link(make.team())

    assert Client().post("/teams/join/", {"invitation": token_of(path)}).status_code == 401


def test_blocked_person_does_not_join():
    person = make.user()
    team = make.team()
    path = link(team)
    Ban.objects.create(user=person, reason="Advertising.")

    assert browser(person).post("/teams/join/", {"invitation": token_of(path)}).status_code == 403
    assert not team.members.filter(user=person).exists()


@pytest.mark.parametrize("end", ["revoked", "used up", "expired", "archived", "unknown", "empty", "site's"])
@pytest.mark.parametrize("who", ["member", "visitor"])
def test_link_that_ended_is_a_page_with_a_sentence(end: str, who: str):
    owner = make.user()
    team = make.team(owner)
    path = link(team)
    match end:
        case "revoked":
            actions.revoke_invitation(by=owner, invitation=Invitation.objects.get())
        case "used up":
            actions.join(user=make.user(), token=token_of(path))
        case "expired":
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        case "archived":
            actions.archive_team(by=owner, team=team)
        case "unknown":
            path += "x"
        case "empty":
            path = "/teams/join/"
        case "site's":
            of_site = Invitation.issue(email="", expires_at=timezone.now() + timedelta(days=1), created_by=owner)[1]
            path = f"/teams/join/?invitation={of_site}"
    client = browser(make.user()) if who == "member" else Client()

    response = client.get(path)

    assert response.status_code == 409
    assert "This invitation was already used or has expired." in response.content.decode()
    if end != "empty":
        assert client.post("/teams/join/", {"invitation": token_of(path)}).status_code == 409


def test_link_for_another_address_says_so():
    path = link(make.team(), email="ada@example.org")

    response = browser(make.user("eve@example.org")).get(path)

    assert response.status_code == 403
    assert "for another e-mail address" in response.content.decode()
    sign_up(path, "eve2@example.org")
    assert not User.objects.filter(email="eve2@example.org").exists()


@pytest.mark.parametrize(("limit", "people"), [("3/hour", 6)])
def test_class_behind_one_address_signs_up(settings, limit: str, people: int):  # type: ignore[no-untyped-def]
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("signup", "network"): limit}
    team = make.team()
    path = link(team, uses=people)

    for number in range(people + 1):
        sign_up(path, f"person-{number}@class.example", REMOTE_ADDR="192.0.2.7")

    assert team.members.filter(role=Role.MEMBER).count() == people


def test_removed_person_needs_a_new_link():
    person, owner = make.user(), make.user()
    team = make.team(owner)
    path = link(team)
    client = browser(person)
    client.post("/teams/join/", {"invitation": token_of(path)})
    actions.remove_member(by=owner, member=team.members.get(user=person))

    assert client.post("/teams/join/", {"invitation": token_of(path)}).status_code == 409
