"""Teams in the administration: created, restored, given owners; their texts are not shown."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import actions as account_actions
from accounts.actor import Actor
from accounts.models import ApiToken, AuditEntry, Ban, Invitation, Role, Scope, Team, User
from accounts.teams import actions
from arena_site.retention import purge
from battles.actions import cast_vote, give_feedback, report
from battles.models import (
    Answer,
    Battle,
    Call,
    Category,
    ModerationCase,
    ModerationRule,
    PromptSuggestion,
    Session,
    Turn,
    Vote,
)
from gateway.models import Exchange
from models_registry.models import Provider
from routing.models import RouterSnapshot, Rule
from tests import make

pytestmark = pytest.mark.django_db
SECRETS = ("canary-prompt", "canary-answer", "canary-comment", "canary-title", "canary-thought")


@pytest.fixture
def client(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


@pytest.fixture
def battle() -> Battle:
    """Voted battle of a team, with secrets in each of its texts."""
    owner = make.user()
    team, actor = make.team(owner, slug="physics"), Actor(user=owner)
    session = Session.objects.create(owner_user=owner, team=team, title="canary-title")
    left, right = make.model(), make.model()
    voted = Battle.objects.create(session=session, propensity=1.0)
    for position, model in (("left", left), ("right", right)):
        voted.sides.create(position=position, model=model)
    make.turn(voted, prompt="canary-prompt")
    make.complete_answers(voted)
    Answer.objects.update(text="canary-answer", reasoning="canary-thought")
    cast_vote(actor=actor, battle=voted, choice=Vote.Choice.LEFT)
    give_feedback(battle=voted, tags={}, comment="canary-comment")
    for answer in Answer.objects.select_related("side"):
        call = Call.objects.create(answer=answer, model=answer.side.model, attempt=1, fence=1)
        Answer.objects.filter(pk=answer.pk).update(call=call)
    return voted


def pages(battle: Battle) -> list[str]:
    answer, vote = Answer.objects.first(), Vote.objects.get()
    assert answer is not None
    return [
        "/admin/battles/session/", f"/admin/battles/session/{battle.session_id}/change/",
        "/admin/battles/battle/", f"/admin/battles/battle/{battle.pk}/change/",
        "/admin/battles/answer/", f"/admin/battles/answer/{answer.pk}/change/",
        "/admin/battles/vote/", f"/admin/battles/vote/{vote.pk}/change/",
        "/admin/battles/call/", f"/admin/battles/call/{answer.call_id}/change/",
        "/admin/battles/moderationcase/", "/api/v1/exports/interactions.csv", "/api/v1/exports/interactions.jsonl",
    ]  # fmt: skip


def found(client: Client, paths: list[str]) -> dict[str, list[str]]:
    texts = {}
    for path in paths:
        response = client.get(path)
        body = b"".join(response).decode() if response.streaming else response.content.decode()
        texts[path] = [secret for secret in SECRETS if secret in body]
    return {path: secrets for path, secrets in texts.items() if secrets}


def test_administrators_do_not_read_texts_of_teams(client: Client, battle: Battle):
    assert found(client, pages(battle)) == {}


def test_setting_lets_administrators_read_texts_of_teams(client: Client, battle: Battle, settings):  # type: ignore[no-untyped-def]
    settings.ARENA_OPERATORS_READ_TEAMS = True

    read = found(client, pages(battle))

    assert {secret for secrets in read.values() for secret in secrets} == set(SECRETS)


def test_moderators_read_what_was_reported(client: Client, battle: Battle):
    case = ModerationCase.objects.create(battle=battle)
    page = f"/admin/battles/moderationcase/{case.pk}/change/"
    assert found(client, [page, "/admin/battles/moderationcase/"]) == {}
    assert "A rule flagged a prompt of a team." in client.get(page).content.decode()

    owner = battle.session.owner_user
    report(actor=Actor(user=owner), battle=battle, reason="rude")

    assert found(client, [page]) == {page: ["canary-prompt", "canary-answer"]}
    assert found(client, ["/admin/battles/moderationcase/"])


@pytest.mark.parametrize("is_deleted", [False, True])
def test_texts_of_a_teams_token_are_not_shown(client: Client, is_deleted: bool):
    owner = make.user()
    team = make.team(owner)
    token = ApiToken.issue(user=owner, name="t", scopes=[Scope.GATEWAY], team=team)[0]
    exchange = Exchange.objects.create(
        user=owner, token=token, team=team, asked_model="auto", texts={"a": "canary-prompt"}
    )
    if is_deleted:
        token.delete()

    assert found(client, [f"/admin/gateway/exchange/{exchange.pk}/change/"]) == {}


def test_team_is_created_with_its_owner(client: Client, administrator: User):
    owner = make.user("owner@example.org")

    form = {"name": "Physics", "slug": "physics", "colour": "teal", "owner": "Owner@example.org"}
    assert client.post("/admin/accounts/team/add/", form).status_code == 302

    team = Team.objects.get()
    assert (team.created_by, team.members.get().user, team.members.get().role) == (administrator, owner, Role.OWNER)
    assert AuditEntry.objects.get().action == "create team"


@pytest.mark.parametrize("change", [
    {"slug": "admin"}, {"slug": "taken"}, {"slug": "فيزياء"}, {"name": "x" * 300}, {"owner": "no@example.org"},
    {"owner": ""},
])  # fmt: skip
def test_bad_team_is_refused(client: Client, change: dict[str, str]):
    make.user("owner@example.org")
    make.team(slug="taken")
    form = {"name": "Physics", "slug": "physics", "colour": "teal", "owner": "owner@example.org", **change}

    assert client.post("/admin/accounts/team/add/", form).status_code == 200
    assert Team.objects.count() == 1


def test_waiting_team_gets_an_owner(client: Client):
    owner, person = make.user(), make.user("person@example.org")
    team = make.team(owner, slug="physics", members={Role.MEMBER: [person]})
    account_actions.delete_account(owner)
    page = f"/admin/accounts/team/{team.pk}/change/"

    assert "physics" in client.get("/admin/accounts/team/?state=waiting").content.decode()
    form = {"name": team.name, "slug": "physics", "colour": "blue", "owner": "person@example.org"}
    assert client.post(page, form).status_code == 302

    team.refresh_from_db()
    assert (team.waits_since, team.members.get().role) == (None, Role.OWNER)
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))[-1] == "set role in team"


def test_team_is_archived_and_restored(client: Client):
    team = make.team(slug="physics")
    for action, is_archived in (("archive", True), ("restore", False)):
        client.post("/admin/accounts/team/", {"action": action, "_selected_action": team.pk})
        team.refresh_from_db()
        assert (team.archived_at is not None) == is_archived
    actions_done = list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))
    assert actions_done == ["create team", "archive team", "restore team"]


def test_members_and_links_are_listed(client: Client):
    owner = make.user("owner@example.org")
    team = make.team(owner, name="Physics")
    row = actions.invite(
        by=owner, team=team, role=Role.GUEST, uses=7, expires_at=timezone.now() + timedelta(days=1)
    )[0]  # fmt: skip

    assert "owner@example.org" in client.get("/admin/accounts/teammember/").content.decode()
    assert "Physics" in client.get("/admin/accounts/invitation/").content.decode()
    assert "Physics" in client.get(f"/admin/accounts/invitation/{row.pk}/change/").content.decode()


def test_ban_of_last_owner_finds_another(administrator: User):
    owner, manager = make.user(), make.user()
    team = make.team(owner, members={Role.MANAGER: [manager]})
    alone = make.team(owner)

    account_actions.ban(Ban(user=owner, reason="Advertising."), by=administrator)

    assert team.members.get(user=manager).role == Role.OWNER
    alone.refresh_from_db()
    assert alone.waits_since is not None


def test_archived_team_loses_its_texts_after_30_days(battle: Battle):
    owner = battle.session.owner_user
    assert owner is not None
    team = battle.session.team
    assert team is not None
    later = make.team(owner, slug="history", name="History")
    personal = Session.objects.create(owner_user=owner, title="mine")
    token = ApiToken.issue(user=owner, name="t", scopes=[Scope.GATEWAY], team=team)[0]
    Exchange.objects.create(user=owner, token=token, team=team, asked_model="auto", texts={"a": "b"})
    soon = timezone.now() + timedelta(days=60)
    actions.invite(by=owner, team=team, role=Role.MEMBER, uses=3, expires_at=soon)
    for archived in (team, later):
        actions.archive_team(by=owner, team=archived)
    Team.objects.filter(pk=team.pk).update(archived_at=timezone.now() - timedelta(days=30, minutes=1))

    purge()
    purge()

    team.refresh_from_db()
    assert (team.name, team.slug, team.removed_at is not None) == ("", f"_{team.pk}", True)
    session = Session.objects.get(pk=battle.session_id)
    assert (session.owner_user, session.title, Turn.objects.get().prompt) == (None, "", "")
    vote = Vote.objects.get()
    assert (vote.choice, vote.comment, vote.voter.startswith("deleted:")) == ("left", "", True)
    assert Exchange.objects.get().texts is None
    assert not Invitation.objects.exists()
    assert not team.members.exists()
    personal.refresh_from_db()
    assert personal.title == "mine"
    later.refresh_from_db()
    assert (later.name, later.removed_at) == ("History", None)
    actions.restore_team(by=owner, team=team)
    team.refresh_from_db()
    assert team.archived_at is not None


def test_administrators_allow_hosts_in_private_networks(client: Client):
    team = make.team(slug="physics")
    address = f"/admin/accounts/team/{team.pk}/change/"
    sent = {"name": team.name, "slug": "physics", "colour": "red"}
    hosts = {"private_hosts": "GPU.institute.example, 10.1.2.3,[fd00::1]"}
    assert client.post(address, sent | hosts).status_code == 302
    team.refresh_from_db()
    assert team.private_hosts == ["10.1.2.3", "fd00::1", "gpu.institute.example"]
    entry = AuditEntry.objects.get(action="allow private hosts")
    assert (entry.subject, entry.details["before"]) == ("team physics", [])
    assert entry.details["hosts"] == team.private_hosts
    for wrong in ("http://10.1.2.3", "gpu.example:8080", "a b", "x/y"):
        assert "is not a host" in client.post(address, {**sent, "private_hosts": wrong}).content.decode()
    make.provider("http://gpu.institute.example:8000/v1", team=team)
    assert Provider.of_every_owner.get(team=team).allows_private
    assert client.post(address, sent | {"private_hosts": ""}).status_code == 302
    assert not Provider.of_every_owner.get(team=team).allows_private


def test_questions_of_a_removed_team_are_deleted():
    team = make.team(slug="physics")
    for model, fields in (
        (Category, {"slug": "optics", "name": "Optics", "phrases": ["lens"]}),
        (ModerationRule, {"category": "Homework", "patterns": ["sheet"], "action": "warn"}),
        (PromptSuggestion, {"texts": {"en": "Why?"}}),
    ):
        model.of_every_owner.create(team=team, **fields)
    Rule.objects.create(team=team, target="arena")
    RouterSnapshot.objects.create(team=team, slot="x", state="published")
    actions.archive_team(by=make.user(), team=team)
    Team.objects.update(archived_at=timezone.now() - timedelta(days=31))
    purge()
    for model in (Category, ModerationRule, PromptSuggestion):
        assert not model.of_every_owner.filter(team=team).exists()
    for model in (Rule, RouterSnapshot):
        assert not model.objects.filter(team=team).exists()
