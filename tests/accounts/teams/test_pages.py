"""Pages of teams: lists, members, settings, the switch of places."""

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import AuditEntry, Role, Team, User
from accounts.teams import actions
from tests import make

pytestmark = pytest.mark.django_db


def browser(user: User) -> Client:
    return make.browser(Actor(user=user))


@pytest.fixture
def models() -> None:
    """Models for a battle: without them the start page has no form."""
    for _ in range(2):
        make.model()


def text(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.usefixtures("models")
def test_person_without_team_sees_no_switch():
    make.team()

    for client in (Client(), browser(make.user())):
        page = text(client, "/")
        assert "place-switch" not in page
        assert 'name="team"' not in page


@pytest.mark.usefixtures("models")
def test_place_is_chosen_and_returns_to_the_page():
    person = make.user()
    make.team(person, slug="physics", name="Physics")
    client = browser(person)

    response = client.post("/teams/place/", {"team": "physics", "next": "/?mode=compare&team="})

    assert response.headers["Location"] == "/?mode=compare"
    page = text(client, "/?mode=compare")
    assert '<input type="hidden" name="team" value="physics">' in page
    assert "Place of what you begin: Physics" in page
    client.post("/teams/place/", {"team": ""})
    assert '<input type="hidden" name="team" value="">' in text(client, "/")


@pytest.mark.parametrize("path", ["/teams/physics/", "/teams/physics/spending/", "/teams/physics/members/"])
def test_main_menu_of_team_pages_leads_to_its_board(path: str):
    person = make.user()
    make.team(person, slug="physics")

    page = text(browser(person), path)

    assert '<a href="/leaderboard/?team=physics"' in page.split('aria-label="Main"')[1].split("</nav>")[0]


@pytest.mark.usefixtures("models")
def test_two_tabs_are_in_two_places():
    person = make.user()
    make.team(person, slug="physics")
    make.team(person, slug="history")
    client = browser(person)
    client.post("/teams/place/", {"team": "history"})

    assert '<input type="hidden" name="team" value="physics">' in text(client, "/?team=physics")
    assert '?mode=compare&amp;team=physics"' in text(client, "/?team=physics")
    assert 'new-battle" href="/?team=physics"' in text(client, "/?team=physics")
    assert 'new-battle" href="/"' in text(client, "/teams/")
    assert '<input type="hidden" name="team" value="history">' in text(client, "/")


@pytest.mark.parametrize("next_page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_switch_leads_to_no_other_site(next_page: str):
    person = make.user()
    make.team(person, slug="physics")

    response = browser(person).post("/teams/place/", {"team": "physics", "next": next_page})

    assert response.headers["Location"] == "/"


def test_place_of_others_is_not_found():
    make.team(slug="physics")
    outsider = make.user()
    make.team(outsider)
    client = browser(outsider)

    assert client.post("/teams/place/", {"team": "physics"}).status_code == 404
    assert client.get("/?team=physics").status_code == 404
    assert Client().get("/?team=physics").status_code == 404


PAGES = ["", "members/", "invitations/", "settings/"]


@pytest.mark.parametrize(
    ("role", "statuses"),
    [
        (Role.OWNER, [200, 200, 200, 200]),
        (Role.MANAGER, [200, 200, 403, 403]),
        (Role.MEMBER, [200, 200, 403, 403]),
        (Role.GUEST, [403, 403, 403, 403]),
    ],
)
def test_pages_open_by_role(role: Role, statuses: list[int]):
    person = make.user()
    make.team(slug="physics", members={role: [person]})
    client = browser(person)

    assert [client.get(f"/teams/physics/{page}").status_code for page in PAGES] == statuses
    assert client.get("/teams/").status_code == 200


def test_overview_shows_what_happened():
    owner, person = make.user("owner@example.org"), make.user("person@example.org")
    make.team(owner, slug="physics", name="Physics", members={Role.MEMBER: [person]})

    page = text(browser(person), "/teams/physics/")

    assert "2 members." in page
    assert "owner@example.org" in page
    assert "Nothing is shared yet." in page
    assert "can read the prompts" not in page


def test_members_see_that_operators_read(settings):  # type: ignore[no-untyped-def]
    settings.ARENA_OPERATORS_READ_TEAMS = True
    person = make.user()
    make.team(person, slug="physics")

    assert "can read the prompts and answers of its teams" in text(browser(person), "/teams/physics/")


def test_owner_changes_role_and_removes():
    owner, person = make.user(), make.user("person@example.org")
    team = make.team(owner, slug="physics", members={Role.MEMBER: [person]})
    member, client = team.members.get(user=person), browser(owner)

    client.post(f"/teams/physics/members/{member.public_id}/role/", {"role": "manager"})
    assert team.members.get(user=person).role == Role.MANAGER
    client.post(f"/teams/physics/members/{member.public_id}/remove/")
    assert not team.members.filter(user=person).exists()
    assert browser(person).get("/teams/physics/").status_code == 404
    changes = ["create team", "set role in team", "remove from team"]
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == changes


def test_role_is_not_raised_by_oneself():
    person = make.user()
    team = make.team(slug="physics", members={Role.MANAGER: [person]})
    own = team.members.get(user=person)

    response = browser(person).post(f"/teams/physics/members/{own.public_id}/role/", {"role": "owner"})

    assert response.status_code == 403
    own.refresh_from_db()
    assert own.role == Role.MANAGER


@pytest.mark.parametrize("role", ["king", "", "OWNER"])
def test_unknown_role_is_refused(role: str):
    owner = make.user()
    own = make.team(owner, slug="physics").members.get()

    assert browser(owner).post(f"/teams/physics/members/{own.public_id}/role/", {"role": role}).status_code == 404


def test_last_owner_reads_how_to_leave():
    owner, manager = make.user(), make.user("manager@example.org")
    make.team(owner, slug="physics", members={Role.MANAGER: [manager]})

    response = browser(owner).post("/teams/physics/leave/")

    assert response.status_code == 409
    assert "Make manager@example.org an owner first" in response.content.decode()


@pytest.mark.parametrize("role", [Role.MEMBER, Role.GUEST])
def test_person_leaves(role: Role):
    person = make.user()
    team = make.team(slug="physics", members={role: [person]})

    response = browser(person).post("/teams/physics/leave/", follow=True)

    assert "You left the team" in response.content.decode()
    assert not team.members.filter(user=person).exists()


def test_member_of_another_team_is_not_found():
    owner = make.user()
    make.team(owner, slug="physics")
    other = make.team().members.get()
    client = browser(owner)

    for path in (f"members/{other.public_id}/role/", f"members/{other.public_id}/remove/", "members/%00/remove/"):
        assert client.post(f"/teams/physics/{path}", {"role": "guest"}).status_code == 404


def test_settings_are_saved():
    owner = make.user()
    team = make.team(owner, slug="physics")
    client = browser(owner)

    response = client.post("/teams/physics/settings/", {"name": "Fizik", "slug": "fizik", "colour": "teal"})

    assert response.headers["Location"] == "/teams/fizik/settings/"
    team.refresh_from_db()
    assert (team.name, team.slug, team.colour) == ("Fizik", "fizik", "teal")
    assert client.get("/teams/physics/").status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("slug", "admin"), ("slug", "join"), ("slug", "taken"), ("slug", "x" * 300), ("slug", "Physics"),
        ("slug", "-a"), ("slug", "a--b"), ("slug", "فيزياء"), ("slug", "a/b"), ("slug", ""), ("slug", "a\x00"),
        ("name", ""), ("name", "x" * 300), ("name", "a\x00b"), ("colour", "pink"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(field: str, value: str):
    make.team(slug="taken")
    owner = make.user()
    team = make.team(owner, slug="physics", name="Physics")
    data = {"name": "Physics", "slug": "physics", "colour": "blue", field: value}

    response = browser(owner).post("/teams/physics/settings/", data)

    assert response.status_code == 422
    assert 'class="errorlist"' in response.content.decode()
    assert Team.objects.get(pk=team.pk).slug == "physics"


def test_name_from_right_to_left_is_isolated():
    owner = make.user()
    make.team(owner, slug="physics", name="فيزياء")

    assert "<bdi>فيزياء</bdi></h1>" in text(browser(owner), "/teams/physics/")


def test_archived_team_is_gone_for_its_members():
    owner = make.user()
    make.team(owner, slug="physics")
    client = browser(owner)
    client.post("/teams/place/", {"team": "physics"})

    client.post("/teams/physics/archive/")

    assert client.get("/teams/physics/").status_code == 404
    assert "Nothing" not in text(client, "/teams/")
    assert "place-switch" not in text(client, "/")
    assert client.post("/", {"prompt": "one", "team": "physics"}).status_code == 404


def test_team_without_owner_says_so():
    owner, person = make.user(), make.user()
    make.team(owner, slug="physics", members={Role.MEMBER: [person]})
    actions.leave_all_teams(owner)

    assert "This team has no owner." in text(browser(person), "/teams/physics/")


@pytest.mark.parametrize(("creators", "status"), [("administrators", 404), ("members", 200)])
def test_setting_decides_who_creates_teams(settings, creators: str, status: int):  # type: ignore[no-untyped-def]
    settings.ARENA_TEAMS = creators
    client = browser(make.user())

    assert client.get("/teams/new/").status_code == status
    client.post("/teams/new/", {"name": "Physics", "slug": "physics", "colour": "red"})
    assert Team.objects.filter(slug="physics").exists() == (status == 200)


def test_visitor_signs_in_before_any_team():
    make.team(slug="physics")

    for slug in ("physics", "nothing"):
        response = Client().get(f"/teams/{slug}/")
        assert response.headers["Location"] == f"/accounts/login/?next=/teams/{slug}/"


@pytest.mark.parametrize("members", [2, 60])
def test_team_pages_have_a_fixed_number_of_queries(members: int, django_assert_max_num_queries):  # type: ignore[no-untyped-def]
    owner = make.user()
    make.team(owner, slug="physics", members={Role.MEMBER: [make.user() for _ in range(members)]})
    client = browser(owner)

    for page in ("", "members/"):
        with django_assert_max_num_queries(12):
            client.get(f"/teams/physics/{page}")
