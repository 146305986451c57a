import re
from collections import Counter
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from accounts import actions
from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from accounts.errors import InvitationUsed
from accounts.models import AuditEntry, Invitation, Scope, User
from battles.models import Session, Vote
from tests import make
from tests.concurrency import race
from tests.site_urls import addresses

pytestmark = pytest.mark.django_db
SIGN_UP = "/accounts/signup/"
NEWCOMER = {"email": "new@example.org", "password1": "a-good-password"}
# URLs for signing in and for health checks; /metrics and /stream/ check access themselves.
EXEMPT = (
    "/accounts/", "/admin/", "/language/", "/livez", "/readyz", "/metrics", "/site/", "/stream/", "/teams/join/",
)  # fmt: skip


@pytest.fixture
def visitor(client: Client) -> tuple[Client, Actor]:
    actor = make.visitor()
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
    return client, actor


@pytest.fixture
def drawable() -> None:
    make.model()
    make.model()


def start(client: Client, path: str = "/api/v1/sessions/", **headers: str) -> int:
    return client.post(path, {"prompt": "Hello"}, "application/json", headers=headers).status_code


def bearer(*scopes: Scope) -> dict[str, str]:
    return make.bearer(scopes=scopes)


def invitation(email: str = "", **changes: object) -> tuple[Invitation, str]:
    row, token = actions.invite(by=make.user(), email=email, expires_at=timezone.now() + timedelta(days=1))
    Invitation.objects.filter(pk=row.pk).update(**changes)
    return row, token


def test_open_access_lets_visitor_battle(client: Client, drawable: None):
    assert client.get("/").status_code == 200
    assert start(client) == 201


def test_members_access_lets_visitor_only_read(settings, visitor: tuple[Client, Actor], drawable: None):
    settings.ARENA_ACCESS = "members"
    client, actor = visitor
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    for path in ("/", "/leaderboard/", "/api/v1/leaderboard/", "/api/v1/models/", battle.session.get_absolute_url()):
        assert client.get(path).status_code == 200
    assert start(client) == 401
    page = client.post("/", {"prompt": "My long prompt", "mode": "blind"})
    assert (page.status_code, "My long prompt" in page.text) == (401, True)
    assert client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}).status_code == 401
    assert client.post(f"/api/v1/battles/{battle.public_id}/vote/", {"choice": "left"}).status_code == 401
    assert Session.objects.count() == 1
    assert not Vote.objects.exists()


def test_members_access_asks_visitor_to_sign_in(settings, client: Client, drawable: None):
    settings.ARENA_ACCESS = "members"
    assert "Sign in to battle" in client.get("/").text
    client.force_login(make.user())
    assert "Sign in to battle" not in client.get("/").text


@pytest.mark.parametrize("access", ["members", "private"])
def test_members_and_tokens_battle_with_every_access(settings, client: Client, drawable: None, access: str):
    settings.ARENA_ACCESS = access
    assert start(Client(), **bearer(Scope.BATTLE)) == 201
    assert Client().get("/api/v1/models/", headers=bearer(Scope.READ)).status_code == 200
    client.force_login(make.user())
    assert client.get("/leaderboard/").status_code == 200
    assert client.post("/", {"prompt": "Hello", "mode": "blind"}).status_code == 303


@pytest.mark.slow
def test_private_access_refuses_visitor_on_all_other_urls(settings, visitor: tuple[Client, Actor]):
    settings.ARENA_ACCESS = "private"
    client, _ = visitor
    nowhere = ("/api/{rest}", "/v1/{rest}")
    inside = [path for path in addresses() if not path.startswith(EXEMPT) and path not in nowhere]
    assert len(inside) > 40
    for path in inside:
        url = (
            re.sub(r"{(number|(item|case|file|model|provider|row|rule|change)_id)}", "1", path)
            .replace("{", "")
            .replace("}", "")
        )
        is_page = not path.startswith(("/api/", "/v1/")) or path == "/api/v1/docs/"
        for method in ("GET", "POST", "PATCH", "DELETE"):
            response = client.generic(method, url, content_type="application/json")
            if is_page and method == "GET":
                assert response["Location"].startswith("/accounts/login/?next="), path
            else:
                assert response.status_code == 401, (method, path)


def test_private_access_lets_member_sign_in(settings, client: Client):
    settings.ARENA_ACCESS = "private"
    member = make.user("member@example.org")
    assert client.get("/accounts/login/").status_code == 200
    assert client.get("/livez").status_code == 200
    signed_in = client.post(
        "/accounts/login/?next=/leaderboard/", {"login": member.email, "password": "a-good-password"}
    )
    assert signed_in["Location"] == "/leaderboard/"
    assert client.get("/leaderboard/").status_code == 200


def test_htmx_request_gets_notice_instead_of_redirect(settings, client: Client):
    settings.ARENA_ACCESS = "private"
    response = client.get("/leaderboard/", headers={"HX-Request": "true"})
    assert (response.status_code, response["HX-Retarget"]) == (401, "#notices")


def test_open_access_runs_no_actor_query(client: Client, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.get("/leaderboard/method/", headers={"HX-Request": "true"})


def test_open_signup_creates_account(client: Client):
    assert client.post(SIGN_UP, NEWCOMER).status_code == 302
    assert User.objects.get().email == "new@example.org"


@pytest.mark.parametrize("sign_up", ["closed", "invitation"])
def test_restricted_signup_refuses_guessed_invitation(settings, client: Client, sign_up: str):
    settings.ARENA_SIGNUP = sign_up
    for path in (SIGN_UP, f"{SIGN_UP}?invitation=guessed"):
        assert 'name="password1"' not in client.get(path).text
        client.post(path, NEWCOMER | {"invitation": "guessed"})
    assert not User.objects.exists()


def test_closed_signup_ignores_invitation(settings, client: Client):
    settings.ARENA_SIGNUP = "closed"
    _, token = invitation()
    client.post(SIGN_UP, NEWCOMER | {"invitation": token})
    assert not User.objects.filter(email="new@example.org").exists()


def test_invitation_creates_one_account(settings, client: Client):
    settings.ARENA_SIGNUP = "invitation"
    row, token = invitation()
    assert f'name="invitation" value="{token}"' in client.get(f"{SIGN_UP}?invitation={token}").text
    assert client.post(SIGN_UP, NEWCOMER | {"invitation": token}).status_code == 302
    row.refresh_from_db()
    assert (row.used_by.email, row.used_at is not None) == ("new@example.org", True)
    assert [entry.action for entry in AuditEntry.objects.all()] == ["accept invitation", "invite"]
    Client().post(SIGN_UP, NEWCOMER | {"email": "second@example.org", "invitation": token})
    assert not User.objects.filter(email="second@example.org").exists()


@pytest.mark.parametrize(
    "closed", [{"expires_at": timezone.now() - timedelta(hours=1)}, {"revoked_at": timezone.now()}]
)
def test_expired_or_revoked_invitation_is_refused(settings, client: Client, closed: dict[str, object]):
    settings.ARENA_SIGNUP = "invitation"
    _, token = invitation(**closed)
    client.post(SIGN_UP, NEWCOMER | {"invitation": token})
    assert not User.objects.filter(email="new@example.org").exists()


def test_invitation_for_address_refuses_others(settings, client: Client):
    settings.ARENA_SIGNUP = "invitation"
    _, token = invitation("Guest@Example.org")
    refused = client.post(SIGN_UP, NEWCOMER | {"invitation": token})
    assert "for another e-mail address" in refused.text
    client.post(SIGN_UP, NEWCOMER | {"email": "guest@example.org", "invitation": token})
    assert list(User.objects.filter(email__contains="@example.org", invitation__isnull=False)) == [
        User.objects.get(email="guest@example.org")
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", range(5))  # a second winner is rare
def test_race_for_invitation_has_one_winner(number: int):
    row, token = invitation()
    people = [make.user() for _ in range(10)]

    def is_winner(user: User) -> bool:
        try:
            actions.accept_invitation(token=token, user=user)
        except InvitationUsed:
            return False
        return True

    assert Counter(race(is_winner, people)) == {True: 1, False: 9}
    row.refresh_from_db()
    assert row.used_by in people


def test_admin_shows_invitation_once_and_revokes_it(settings, client: Client):
    settings.ARENA_SIGNUP = "invitation"
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    form = {"email": "", "expires_at_0": "2100-01-01", "expires_at_1": "00:00:00"}
    page = client.post("/admin/accounts/invitation/add/", form, follow=True).text
    link = page.split("<code>")[1].split("</code>")[0]
    assert 'name="password1"' in Client().get(f"{SIGN_UP}?{urlsplit(link).query}").text
    row = Invitation.objects.get()
    assert urlsplit(link).query.removeprefix("invitation=") not in client.get("/admin/accounts/invitation/").text
    client.post("/admin/accounts/invitation/", {"action": "revoke", "_selected_action": [row.pk]})
    assert 'name="password1"' not in Client().get(f"{SIGN_UP}?{urlsplit(link).query}").text
    actions_taken = [(entry.action, entry.user.email) for entry in AuditEntry.objects.all()]
    assert actions_taken == [("revoke invitation", "admin@example.org"), ("invite", "admin@example.org")]


def test_invitation_expiring_in_the_past_is_refused(client: Client):
    client.force_login(make.user(is_staff=True, is_superuser=True))
    form = {"email": "", "expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}
    assert "This moment is over." in client.post("/admin/accounts/invitation/add/", form).text
    assert not Invitation.objects.exists()
