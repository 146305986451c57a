"""Members, roles and invitations of teams."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts import actions as account_actions
from accounts.actions import delete_account
from accounts.errors import InvitationUsed, InvitedUnderAnotherAddress, LastOwner, SlugTaken
from accounts.models import ApiToken, Ban, Invitation, Role, Scope, Team, TeamMember, User
from accounts.teams import actions
from tests import make
from tests.concurrency import race

pytestmark = pytest.mark.django_db


def invitation(team: Team, *, role: Role = Role.MEMBER, uses: int = 1, email: str = "") -> str:
    owner = team.members.get(role=Role.OWNER).user
    soon = timezone.now() + timedelta(days=1)
    return actions.invite(by=owner, team=team, role=role, uses=uses, expires_at=soon, email=email)[1]


def roles(team: Team) -> dict[str, str]:
    return dict(team.members.values_list("user__email", "role"))


def test_link_makes_member_once():
    team, person = make.team(), make.user()
    token = invitation(team, role=Role.MANAGER, uses=2)

    first = actions.join(user=person, token=token)
    again = actions.join(user=person, token=token)

    assert first == again
    assert (first.role, first.origin) == (Role.MANAGER, TeamMember.Origin.INVITATION)
    assert Invitation.objects.get().uses_left == 1


def test_used_up_link_is_refused():
    team = make.team()
    token = invitation(team)
    actions.join(user=make.user(), token=token)

    with pytest.raises(InvitationUsed):
        actions.join(user=make.user(), token=token)


@pytest.mark.django_db(transaction=True)
def test_link_used_by_many_at_once_admits_its_uses():
    team, people = make.team(), [make.user() for _ in range(12)]
    token = invitation(team, uses=5)

    def try_to_join(person: User) -> bool:
        try:
            actions.join(user=person, token=token)
        except InvitationUsed:
            return False
        return True

    assert sum(race(try_to_join, people)) == 5
    assert team.members.filter(role=Role.MEMBER).count() == 5


@pytest.mark.parametrize("end", ["revoke", "expire", "archive"])
def test_ended_link_is_refused(end: str):
    team = make.team()
    token = invitation(team, uses=5)
    owner = team.members.get().user
    match end:
        case "revoke":
            actions.revoke_invitation(by=owner, invitation=Invitation.objects.get())
        case "expire":
            Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        case "archive":
            actions.archive_team(by=owner, team=team)

    with pytest.raises(InvitationUsed):
        actions.join(user=make.user(), token=token)


def test_link_for_another_address_is_refused():
    token = invitation(make.team(), email="ada@example.org")

    with pytest.raises(InvitedUnderAnotherAddress):
        actions.join(user=make.user("eve@example.org"), token=token)


def test_invitation_to_the_site_admits_to_no_team():
    soon = timezone.now() + timedelta(days=1)
    token = account_actions.invite(by=make.user(), expires_at=soon)[1]

    with pytest.raises(InvitationUsed):
        actions.join(user=make.user(), token=token)


def test_last_owner_stays_until_another_is_made():
    owner, manager = make.user("owner@example.org"), make.user("manager@example.org")
    team = make.team(owner, members={Role.MANAGER: [manager]})
    own = team.members.get(user=owner)

    with pytest.raises(LastOwner, match=r"manager@example\.org"):
        actions.remove_member(by=owner, member=own)
    with pytest.raises(LastOwner):
        actions.set_role(by=owner, member=own, role=Role.GUEST)
    actions.set_role(by=owner, member=team.members.get(user=manager), role=Role.OWNER)
    actions.remove_member(by=owner, member=own)

    assert roles(team) == {"manager@example.org": "owner"}


def test_longest_serving_manager_follows_deleted_owner():
    owner, managers = make.user(), [make.user("first@example.org"), make.user("second@example.org")]
    team = make.team(owner, members={Role.MANAGER: managers, Role.MEMBER: [make.user("other@example.org")]})

    delete_account(owner)

    assert roles(team) == {
        "first@example.org": "owner", "second@example.org": "manager", "other@example.org": "member",
    }  # fmt: skip


def test_blocked_manager_does_not_follow_deleted_owner():
    owner, managers = make.user(), [make.user("blocked@example.org"), make.user("next@example.org")]
    team = make.team(owner, members={Role.MANAGER: managers})
    Ban.objects.create(user=managers[0], reason="spam")

    delete_account(owner)

    assert roles(team) == {"blocked@example.org": "manager", "next@example.org": "owner"}


def test_team_without_manager_waits_for_administrator():
    owner, person = make.user(), make.user("person@example.org")
    team = make.team(owner, members={Role.MEMBER: [person]})

    delete_account(owner)
    team.refresh_from_db()
    assert team.waits_since is not None

    actions.add_member(by=make.user(is_staff=True, is_superuser=True), team=team, user=person, role=Role.OWNER)
    team.refresh_from_db()
    assert (roles(team), team.waits_since) == ({"person@example.org": "owner"}, None)


def test_removed_member_loses_the_teams_tokens():
    person = make.user()
    team = make.team(members={Role.MEMBER: [person]})
    of_team = ApiToken.issue(user=person, name="t", scopes=[Scope.READ], team=team)[0]
    personal = ApiToken.issue(user=person, name="t", scopes=[Scope.READ])[0]

    actions.remove_member(by=person, member=team.members.get(user=person))
    actions.add_member(by=person, team=team, user=person, role=Role.MEMBER)

    assert list(ApiToken.objects.usable()) == [personal]
    of_team.refresh_from_db()
    assert of_team.revoked_at is not None


def test_taken_slug_is_refused():
    make.team(slug="physics")

    with pytest.raises(SlugTaken):
        make.team(slug="physics")


def run(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_teammember SET role = 'guest'",
        "DELETE FROM accounts_teammember",
        "INSERT INTO accounts_team (slug, name, colour) VALUES ('physics', 'Physics', 'blue')",
    ],
)
def test_database_refuses_team_without_owner(statement: str):
    make.team()

    with pytest.raises(IntegrityError, match="a_team_has_one_owner_at_least"):
        run(statement)
