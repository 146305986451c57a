"""Groups of an issuer make, change and end memberships in teams."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEntry, IssuerGroup, Role, Team, TeamMember, User
from tests import make
from tests.accounts.single_sign_on.browser import sign_in
from tests.fake_issuer import FakeIssuer

pytestmark = pytest.mark.django_db
CLAIM = "realm_access.roles"


@pytest.fixture
def team() -> Team:
    team = make.team(slug="physics")
    for group, role in (("physicists", Role.MEMBER), ("professors", Role.MANAGER)):
        IssuerGroup.objects.create(team=team, issuer="company", claim=CLAIM, group=group, role=role)
    return team


def signed_in(issuer: FakeIssuer, **claims: Any) -> User:
    issuer.person.update(claims)
    client = Client()
    assert sign_in(client, issuer).status_code == 302
    return User.objects.get(pk=client.session["_auth_user_id"])


def membership(team: Team, user: User) -> tuple[str, str] | None:
    return team.members.filter(user=user).values_list("role", "origin").first()


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        (["physicists"], "member"),
        (["professors", "physicists"], "manager"),
        ({"physicists": {"id": "arena.example.org"}}, "member"),
        ([{"name": "professors"}], "manager"),
        ("physicists", "member"),
        (["chemists"], None),
        ([*(f"group-{number}" for number in range(500)), "physicists"], Role.MEMBER),
        (["x" * 10_000, "physicists"], Role.MEMBER),
        ("x" * 10_000, None),
        ([], None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_groups_make_members(issuer: FakeIssuer, team: Team, roles: Any, role: str | None):
    user = signed_in(issuer, realm_access={"roles": roles})

    assert membership(team, user) == (None if role is None else (role, TeamMember.Origin.ISSUER))


def test_membership_comes_changes_and_goes(issuer: FakeIssuer, team: Team):
    found = []
    for roles in (["physicists"], ["professors"], [], ["physicists"]):
        user = signed_in(issuer, realm_access={"roles": roles})
        found.append(membership(team, user))

    assert [role and role[0] for role in found] == ["member", "manager", None, "member"]


@pytest.mark.parametrize(
    ("claims", "userinfo", "state"),
    [
        ({}, {"sub": "person-1"}, "absent"),
        ({"realm_access": None}, {"sub": "person-1"}, "absent"),
        ({"_claim_names": {CLAIM: "src1"}}, {"sub": "person-1"}, "unknown"),  # more groups than fit into the token
        ({"realm_access": {"roles": [f"group-{number}" for number in range(2001)]}}, {"sub": "person-1"}, "unknown"),
        ({}, None, "unknown"),  # userinfo does not answer
        ({}, {"sub": "person-2"}, "unknown"),
    ],
)
def test_claim_that_is_not_sent_ends_nothing_and_is_recorded(
    issuer: FakeIssuer, team: Team, claims: dict[str, Any], userinfo: dict[str, Any] | None, state: str
):
    user = signed_in(issuer, realm_access={"roles": ["physicists"]})
    issuer.person.pop("realm_access")
    if userinfo is None:
        issuer.replies["/userinfo"] = (500, b"{}")
    else:
        issuer.userinfo = userinfo
    signed_in(issuer, **claims)

    assert membership(team, user) == (Role.MEMBER, TeamMember.Origin.ISSUER)
    entry = AuditEntry.objects.get(action="keep role in team")
    assert (entry.subject, entry.details["member"], entry.details["claims"]) == ("team physics", user.pk, state)


@pytest.mark.parametrize("origin", [TeamMember.Origin.HAND, TeamMember.Origin.INVITATION])
def test_other_memberships_stay(issuer: FakeIssuer, team: Team, origin: str):
    user = signed_in(issuer, realm_access={"roles": []})
    TeamMember.objects.create(team=team, user=user, role=Role.GUEST, origin=origin)
    for roles in (["professors"], []):
        signed_in(issuer, realm_access={"roles": roles})
        assert membership(team, user) == (Role.GUEST, origin)


def test_last_owner_without_group_is_followed(issuer: FakeIssuer, team: Team):
    IssuerGroup.objects.create(team=team, issuer="company", claim=CLAIM, group="deans", role=Role.OWNER)
    user = signed_in(issuer, realm_access={"roles": ["deans"]})
    manager = TeamMember.objects.create(team=team, user=make.user(), role=Role.MANAGER)
    team.members.filter(role=Role.OWNER).exclude(user=user).delete()
    signed_in(issuer, realm_access={"roles": []})

    manager.refresh_from_db()
    assert (manager.role, membership(team, user)) == (Role.OWNER, None)


def test_groups_of_archived_team_or_other_issuer_do_nothing(issuer: FakeIssuer, team: Team):
    other = make.team()
    IssuerGroup.objects.create(team=other, issuer="another", claim=CLAIM, group="physicists")
    Team.objects.filter(pk=team.pk).update(archived_at=timezone.now())
    user = signed_in(issuer, realm_access={"roles": ["physicists"]})

    assert not TeamMember.objects.filter(user=user).exists()


@pytest.mark.parametrize(("roles", "is_short"), [(["physicists"], True), ([], False)])
def test_session_of_issuers_member_ends_after_hours(
    issuer: FakeIssuer, team: Team, client: Client, settings: Any, roles: list[str], is_short: bool
):
    issuer.person["realm_access"] = {"roles": roles}
    sign_in(client, issuer)

    age = client.session.get_expiry_age()
    assert (age <= settings.ARENA_SSO_TEAM_SESSION_HOURS * 3600) is is_short


def test_groups_are_chosen_in_the_administration_and_audited(
    issuer: FakeIssuer, team: Team, client: Client, administrator: User
):
    client.force_login(administrator)
    page = "/admin/accounts/issuergroup/add/"
    sent = {"team": team.pk, "issuer": "company", "claim": "groups", "group": "Physics (all)", "role": "guest"}

    assert client.post(page, sent).status_code == 302
    assert client.post(page, sent).status_code == 200  # the same group again
    [entry] = AuditEntry.objects.filter(action="add issuer group")
    assert entry.details == {**sent, "team": "physics"}


def test_own_sign_in_tells_why(issuer: FakeIssuer, team: Team, client: Client, settings: Any):
    settings.ARENA_SSO = [issuer.settings(staff_group="arena-staff")]
    issuer.person |= {"groups": ["arena-staff"], "realm_access": {"roles": ["professors"]}}
    sign_in(client, issuer)
    user = User.objects.get(pk=client.session["_auth_user_id"])
    User.objects.filter(pk=user.pk).update(is_superuser=True)

    page = client.get("/admin/socialaccount/socialaccount/issuers/").text
    assert "Member of the team (manager)." in page
