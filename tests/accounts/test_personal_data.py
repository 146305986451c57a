"""Export and deletion of accounts: texts are deleted, votes stay anonymously, boards stay the same."""

import json
from collections.abc import Callable

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import actions
from accounts.actor import VISITOR_COOKIE, Actor, visitor_cookie_value
from accounts.models import ApiToken, AuditEntry, Ban, IdempotencyKey, Invitation, Role, Scope, User, Visitor
from battles.actions import cast_vote, give_feedback, report
from battles.models import Session, Turn, Vote
from leaderboard.aggregation.job import aggregate
from leaderboard.counting import method
from leaderboard.models import Standing
from tests import make
from uploads.models import Upload

pytestmark = pytest.mark.django_db
PASSWORD, ME, EXPORT, DELETE = "a-good-password", "/api/v1/me/", "/api/v1/me/export/", "/accounts/delete/"
SECRETS = ("Where do I live?", "My comment", "My report", "diary.txt", "someone@example.org")


@pytest.fixture
def member() -> Actor:
    return Actor(user=make.user("someone@example.org"))


def reauthenticated_client(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def vote_in_new_battle(actor: Actor, prompt: str = "Where do I live?") -> Vote:
    battle = make.battle(make.model(), make.model(), actor=actor, prompt=prompt)
    battle.turns.update(state=Turn.State.DONE)
    for answer in (answers := battle.turns.get().answers).all():
        answers.filter(pk=answer.pk).update(state="done", text="At home.")
    vote = cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    give_feedback(battle=battle, tags={"left": ["accurate"]}, comment="My comment")
    return vote


def create_upload(actor: Actor) -> Upload:
    return Upload.objects.create(
        owner_user=actor.user, name="diary.txt", size=1, sha256="0" * 64, media_type="text/plain",
        kind="document", stored_as="x", state="ready",
    )  # fmt: skip


def claimed_visitor(user: User) -> Actor:
    """Return the visitor that this member was before signing in."""
    visitor = make.visitor()
    Visitor.objects.filter(pk=visitor.visitor.pk).update(claimed_by=user)
    return visitor


def dump_database() -> str:
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')
            rows.append(str(cursor.fetchall()))
    return "\n".join(rows)


def test_export_contains_all_data_of_the_member(member: Actor):
    vote, file = vote_in_new_battle(member), create_upload(member)
    ApiToken.issue(user=member.user, name="nightly", scopes=[Scope.READ])
    vote_in_new_battle(make.member(), "A stranger's")
    client = reauthenticated_client(member.user)
    for path in (EXPORT, "/accounts/data/export/"):
        answer = client.get(path)
        assert answer["Content-Disposition"] == 'attachment; filename="my-arena-data.json"'
        data = json.loads(answer.text)
        assert data["account"]["email"] == "someone@example.org"
        assert [token["name"] for token in data["tokens"]] == ["nightly"]
        assert [session["id"] for session in data["sessions"]] == [vote.battle.session.public_id]
        [battle] = data["sessions"][0]["battles"]
        assert battle["turns"][0]["prompt"] == "Where do I live?"
        assert (battle["vote"]["choice"], battle["vote"]["comment"]) == ("left", "My comment")
        assert [upload["id"] for upload in data["uploads"]] == [file.public_id]


def test_export_hides_models_of_blind_battle(member: Actor):
    make.answered_battle(make.model(name="Canary"), make.model(), actor=member)
    text = reauthenticated_client(member.user).get(EXPORT).text
    assert "an answer" in text
    assert "Canary" not in text


def test_query_count_is_independent_of_number_of_sessions(member: Actor):
    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            client.get(EXPORT)
        return len(made)

    client = reauthenticated_client(member.user)
    vote_in_new_battle(member)
    few = queries()
    for _ in range(4):
        vote_in_new_battle(member)
    assert queries() == few


def test_export_and_deletion_need_member_in_browser(client: Client, member: Actor):
    bearer = make.bearer(member.user)
    assert client.get(EXPORT).status_code == 401
    assert client.get(EXPORT, headers=bearer).status_code == 403
    assert client.delete(ME, headers=bearer).status_code == 403
    assert client.delete(ME).status_code == 401
    assert User.objects.filter(pk=member.user.pk).exists()


def delete_on_page(client: Client, user: User) -> None:
    assert client.post(DELETE, {"email": user.email})["Location"] == "/"


def delete_by_api(client: Client, user: User) -> None:
    assert client.delete(ME).status_code == 204


@pytest.mark.slow
@pytest.mark.parametrize("leave", [delete_on_page, delete_by_api])
def test_deleted_account_leaves_only_anonymous_votes(member: Actor, leave: Callable[[Client, User], None]):
    vote = vote_in_new_battle(member)
    for reporter, battle in (
        (member, vote.battle),
        (claimed_visitor(member.user), make.answered_battle(make.model(), make.model())),
    ):
        report(actor=reporter, battle=battle, reason="My report")
    create_upload(member)
    token = make.token(member.user, scopes=[Scope.READ])
    invitation, _ = actions.invite(by=make.user(), email=member.user.email, expires_at=timezone.now())
    Invitation.objects.filter(pk=invitation.pk).update(used_at=Now(), used_by=member.user)
    IdempotencyKey.objects.create(actor=member.key, key="k", request_hash="x", body={"prompt": "Where do I live?"})
    client = reauthenticated_client(member.user)
    assert all(secret in dump_database() for secret in SECRETS)
    leave(client, member.user)
    stored = dump_database()
    assert [secret for secret in SECRETS if secret in stored] == []
    vote.refresh_from_db()
    assert (vote.choice, vote.voter.startswith("deleted:")) == ("left", True)
    assert client.get(ME).json()["kind"] == "visitor"
    assert Client().get(ME, headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert AuditEntry.objects.first().action == "member deleted the account"


@pytest.mark.parametrize("one_by_one", [True, False])
def test_deletion_in_admin_leaves_only_anonymous_votes(
    admin_client: Client, admin_user: User, member: Actor, one_by_one: bool
):
    vote, page = vote_in_new_battle(member), f"/admin/accounts/user/{member.user.pk}/"
    create_upload(member)
    admin_client.post(f"{page}change/", {"email": member.user.email, "is_active": "on", "last_name": "Changed"})
    if one_by_one:
        admin_client.post(f"{page}delete/", {"post": "yes"})
    else:
        chosen = {"action": "delete_selected", "_selected_action": [member.user.pk], "post": "yes"}
        admin_client.post("/admin/accounts/user/", chosen)
    assert not User.objects.filter(pk=member.user.pk).exists()
    stored = dump_database()
    assert [secret for secret in SECRETS if secret in stored] == []
    vote.refresh_from_db()
    assert vote.voter.startswith("deleted:")
    entries = list(AuditEntry.objects.values_list("user", "action"))
    assert entries == [(admin_user.pk, "delete account"), (admin_user.pk, "change user")]


def test_admin_can_delete_banned_member(admin_client: Client, member: Actor):
    actions.ban(Ban(user=member.user, reason="Advertising."), by=make.user("other@example.org", is_staff=True))
    admin_client.post(f"/admin/accounts/user/{member.user.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=member.user.pk).exists()


def publish_standings(slot: str) -> list[tuple[object, ...]]:
    standings = Standing.objects.filter(run=aggregate(slot=slot)).order_by("model_id")
    return list(standings.values_list("model_id", "score", "ci_low", "ci_high", "rank", "votes", "elo"))


@pytest.mark.slow
def test_deletion_does_not_change_boards(monkeypatch: pytest.MonkeyPatch, member: Actor):
    first, second = make.model(), make.model()
    for number in range(12):
        actor = member if number % 2 else make.member()
        battle = make.answered_battle(first, second, actor=actor)
        cast_vote(actor=actor, battle=battle, choice="right" if number % 3 else "left")
    before = publish_standings("before")
    actions.delete_account(member.user)
    monkeypatch.setattr(method, "LISTED_FROM_VOTES", 4)  # otherwise an unchanged board is not fitted again
    assert len(before) == 2
    assert publish_standings("after") == before


def test_votes_of_deleted_account_keep_one_voter(member: Actor):
    vote_in_new_battle(member)
    vote_in_new_battle(member)
    actions.delete_account(member.user)
    assert len(set(Vote.objects.values_list("voter", flat=True))) == 1


def test_deletion_covers_claimed_visitor(member: Actor):
    visitor = make.visitor()
    battle = make.battle(make.model(), make.model(), actor=visitor)
    client = Client()
    client.cookies[VISITOR_COOKIE] = visitor_cookie_value(visitor.visitor)
    client.post("/accounts/login/", {"login": member.user.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    delete_by_api(client, member.user)
    session = Session.objects.get(pk=battle.session_id)
    assert (session.owner_user, session.owner_visitor, session.title) == (None, None, "")
    assert not Visitor.objects.filter(pk=visitor.visitor.pk).exists()


def test_deletion_needs_recent_password(client: Client, member: Actor):
    client.force_login(member.user)  # long ago
    assert client.get(DELETE)["Location"].startswith("/accounts/reauthenticate/")
    refused = client.delete(ME)
    assert (refused.status_code, refused.json()["code"]) == (403, "reauthentication_required")
    client.post(DELETE, {"email": member.user.email})
    assert User.objects.filter(pk=member.user.pk).exists()


def test_delete_page_requires_the_own_address(member: Actor):
    client = reauthenticated_client(member.user)
    assert "cannot be undone" in client.get(DELETE).text
    assert "without your name" in client.get("/accounts/data/").text
    refused = client.post(DELETE, {"email": "other@example.org"})
    assert (refused.status_code, "not the address" in refused.text) == (422, True)
    assert User.objects.filter(pk=member.user.pk).exists()


def test_last_administrator_cannot_be_deleted():
    last = make.user(is_staff=True, is_superuser=True)
    refused = reauthenticated_client(last).delete(ME)
    assert (refused.status_code, refused.json()["code"]) == (409, "last_administrator")
    make.user(is_staff=True, is_superuser=True)
    assert reauthenticated_client(last).delete(ME).status_code == 204


def test_page_that_deletes_an_account_names_teams_and_next_owners(member: Actor):
    manager = make.user()
    make.team(member.user, name="Physics", members={Role.MANAGER: [manager]})
    make.team(member.user, name="Chemistry")
    make.team(name="Music", members={Role.MEMBER: [member.user]})

    page = reauthenticated_client(member.user).get(DELETE).text.partition("You leave these teams")[2]

    assert page.index("Chemistry") < page.index("Its members can only read") < page.index("Music")
    assert page.index("Physics") < page.index(f"{manager} becomes owner.")
