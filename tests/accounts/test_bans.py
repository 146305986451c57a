from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import actions, bans
from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from accounts.models import ApiToken, AuditEntry, Ban, Scope, User, Visitor
from battles.models import Session, Vote
from tests import make

pytestmark = pytest.mark.django_db
SIGN_UP = {"email": "new@example.org", "password1": "a-good-password"}
HOME, ELSEWHERE = {"REMOTE_ADDR": "203.0.113.5"}, {"REMOTE_ADDR": "203.0.113.6"}


@pytest.fixture(autouse=True)
def _two_models() -> None:
    make.model()
    make.model()


@pytest.fixture
def staff() -> User:
    return make.user("admin@example.org", is_staff=True, is_superuser=True)


def ban(staff: User, **whom: object) -> Ban:
    made = Ban(**{"reason": "Advertising.", **whom})
    actions.ban(made, by=staff)
    return made


def browser_of(actor: Actor, **extra: str) -> Client:
    client = Client(**extra)
    if actor.user is not None:
        client.force_login(actor.user)
    else:
        client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
    return client


def start(client: Client, **headers: str) -> tuple[int, str]:
    response = client.post("/api/v1/sessions/", {"prompt": "Hello"}, "application/json", headers=headers)
    return response.status_code, response.json().get("detail", "")


@pytest.mark.parametrize("kind", ["visitor", "member"])
def test_banned_person_cannot_battle_or_vote(staff: User, kind: str):
    actor = make.visitor() if kind == "visitor" else make.member()
    battle, client = make.answered_battle(make.model(), make.model(), actor=actor), browser_of(actor)
    ban(staff, user=actor.user, visitor=actor.visitor)
    assert start(client) == (403, "You are blocked from taking part in this arena: Advertising.")
    page = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    assert (page.status_code, "Advertising." in page.text) == (403, True)
    assert not Vote.objects.exists()
    assert client.get(battle.session.get_absolute_url()).status_code == 200
    assert start(browser_of(make.visitor()))[0] == 201


def test_token_of_banned_member_may_only_read(staff: User):
    member = make.user()
    ban(staff, user=member)
    token = make.token(member)
    assert start(Client(), Authorization=f"Bearer {token}")[0] == 403
    assert Client().get("/api/v1/sessions/", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_network_ban_holds_for_all_people(staff: User):
    first = Client(**HOME)
    assert start(first)[0] == 201
    ban(staff, network=Visitor.objects.get().network)
    for client in (first, Client(**HOME), browser_of(make.member(), **HOME)):
        assert start(client)[0] == 403
    assert Client(**HOME).post("/accounts/signup/", SIGN_UP).status_code == 403
    assert not User.objects.filter(email="new@example.org").exists()
    assert start(Client(**ELSEWHERE))[0] == 201


def test_network_ban_holds_in_later_months(staff: User, monkeypatch: pytest.MonkeyPatch):
    start(Client(**HOME))
    ban(staff, network=Visitor.objects.get().network)
    later = timezone.now() + timedelta(days=40)
    monkeypatch.setattr("common.client_ip.timezone.now", lambda: later)
    assert start(Client(**HOME))[0] == 403


def test_visitor_row_holds_no_ip_address():
    start(Client(**HOME))
    assert "203.0.113" not in str(Visitor.objects.values())


def test_ban_states_its_end_and_expires(staff: User):
    actor = make.visitor()
    ban(staff, visitor=actor.visitor, expires_at=timezone.now() + timedelta(days=30))
    status, detail = start(browser_of(actor))
    assert (status, "until" in detail) == (403, True)
    Ban.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    Ban.objects.get().save()  # drops the cached bans
    assert start(browser_of(actor))[0] == 201


def test_banned_member_keeps_access_to_own_account(staff: User):
    member = make.member()
    client = browser_of(member)
    ban(staff, user=member.user)
    assert client.get("/api/v1/me/").status_code == 200
    row, _ = ApiToken.issue(user=member.user, name="t", scopes=[Scope.READ])
    assert client.delete(f"/api/v1/me/tokens/{row.public_id}/").status_code == 204
    assert client.post("/accounts/logout/").status_code == 302


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_second_request_without_bans_runs_no_ban_query(staff: User):
    client = Client()
    start(client)
    with CaptureQueriesContext(connection) as queries:
        start(client)
    assert not [query for query in queries if "accounts_ban" in query["sql"]]


def test_database_outage_returns_503_and_keeps_prompt(monkeypatch: pytest.MonkeyPatch):
    def away() -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(bans, "in_force", away)
    page = Client().post("/", {"prompt": "My long prompt", "mode": "blind"})
    assert (page.status_code, "My long prompt" in page.text) == (503, True)
    assert start(Client())[0] == 503


def test_bans_in_admin_are_audited(staff: User):
    client, actor = Client(), make.visitor()
    client.force_login(staff)
    form = {"visitor": actor.visitor.pk, "reason": "Advertising.", "expires_at_0": "", "expires_at_1": ""}
    assert client.post("/admin/accounts/ban/add/", form).status_code == 302
    made = Ban.objects.get()
    assert made.created_by == staff
    assert start(browser_of(actor))[0] == 403
    client.post(f"/admin/accounts/ban/{made.pk}/change/", {"reason": "Another."})
    client.post("/admin/accounts/ban/", {"action": "lift", "_selected_action": [made.pk]})
    made.refresh_from_db()
    assert (made.reason, made.lifted_by) == ("Advertising.", staff)
    assert start(browser_of(actor))[0] == 201
    entries = [(entry.action, entry.user, entry.reason, entry.details["whom"]) for entry in AuditEntry.objects.all()]
    whom = f"visitor {actor.visitor.pk}"
    assert entries == [("lift ban", staff, "", whom), ("ban", staff, "Advertising.", whom)]


@pytest.mark.parametrize("named", [[], ["user", "visitor"], ["user", "network"]])
def test_ban_needs_exactly_one_target(staff: User, named: list[str]):
    whom = {"user": make.user(), "visitor": make.visitor().visitor, "network": "2026-11:x"}
    made = Ban(reason="r", **{name: whom[name] for name in named})
    with pytest.raises(ValidationError, match="Name one of them"):
        made.full_clean()
    with pytest.raises(IntegrityError, match="a_ban_is_of_one_person_or_one_network"):
        made.save()


def test_banned_visitor_keeps_sessions(staff: User):
    actor = make.visitor()
    make.battle(make.model(), make.model(), actor=actor)
    ban(staff, visitor=actor.visitor)
    assert Session.objects.owned_by(actor).count() == 1
