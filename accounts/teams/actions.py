"""Callers check rights by teams.roles."""

from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Func, Value, When
from django.db.models.functions import Now
from django.dispatch import Signal
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import InvitationUsed, InvitedUnderAnotherAddress, LastOwner, SlugTaken, TooManyInvitations
from accounts.models import ApiToken, Ban, Invitation, Role, Team, TeamMember, User
from accounts.teams.roles import Right, has_right
from common.errors import NotFound

# Sent with `team`, locked; a receiver refuses by an ArenaError.
team_archiving = Signal()

MAX_OPEN_INVITATIONS = 50
MAX_USES = 1000
# Words of addresses below /teams/, and those that could pass for the site's.
RESERVED_SLUGS = frozenset({"admin", "api", "arena", "join", "new", "personal", "place", "site", "staff", "teams"})


def create_team(*, by: User, owner: User, name: str, slug: str, colour: str = Team.Colour.BLUE) -> Team:
    """Return a new team with its first owner. Raises SlugTaken."""
    _refuse_reserved(slug)
    try:
        with transaction.atomic():
            team = Team.objects.create(name=name, slug=slug, colour=colour, created_by=by)
            TeamMember.objects.create(team=team, user=owner, role=Role.OWNER)
            audit.record(by, "create team", f"team {slug}", owner=owner.pk)
    except IntegrityError as error:
        raise _slug_taken() from error
    return team


def change_team(*, by: User, team: Team, name: str, slug: str, colour: str) -> None:
    """Store the changed fields. Raises SlugTaken."""
    _refuse_reserved(slug)
    try:
        with transaction.atomic():
            Team.objects.filter(pk=team.pk).update(name=name, slug=slug, colour=colour)
            audit.record(by, "change team", f"team {team.slug}", name=name, slug=slug)
    except IntegrityError as error:
        raise _slug_taken() from error


@transaction.atomic
def allow_private_hosts(*, by: User, team: Team, hosts: list[str]) -> None:
    """Store the hosts in private networks that the team's providers may have, in place of earlier ones."""
    before = Team.objects.select_for_update(no_key=True).get(pk=team.pk).private_hosts
    if before == hosts:
        return
    team.private_hosts = hosts
    team.save(update_fields=["private_hosts"])  # caches of its models read it again
    audit.record(by, "allow private hosts", f"team {team.slug}", before=before, hosts=hosts)


def _refuse_reserved(slug: str) -> None:
    if slug in RESERVED_SLUGS:
        raise _slug_taken()


def _slug_taken() -> SlugTaken:
    return SlugTaken(fields={"slug": [str(SlugTaken.message)]})


@transaction.atomic
def archive_team(*, by: User, team: Team) -> None:
    """Hide the team from its members. For 30 days an administrator can restore it; then its texts are deleted.

    Raises as receivers of team_archiving do.
    """
    _lock(team)
    team_archiving.send(sender=Team, team=team)
    if Team.objects.active().filter(pk=team.pk).update(archived_at=Now()):
        audit.record(by, "archive team", f"team {team.slug}")


@transaction.atomic
def restore_team(*, by: User, team: Team) -> None:
    if Team.objects.filter(pk=team.pk, removed_at=None).exclude(archived_at=None).update(archived_at=None):
        audit.record(by, "restore team", f"team {team.slug}")


@transaction.atomic
def invite(
    *, by: User, team: Team, role: Role, uses: int, expires_at: datetime, email: str = ""
) -> tuple[Invitation, str]:
    """Return a new row and the token of its link. Raises TooManyInvitations."""
    _lock(team)  # simultaneous requests must not pass the limit together
    if Invitation.objects.open().filter(team=team).count() >= MAX_OPEN_INVITATIONS:
        raise TooManyInvitations
    row, token = Invitation.issue(
        email=email.lower(), expires_at=expires_at, created_by=by, team=team, role=role, uses=uses
    )
    audit.record(by, "invite to team", f"team {team.slug}", role=role, uses=uses, expires_at=expires_at)
    return row, token


@transaction.atomic
def join(*, user: User, token: str) -> TeamMember:
    """Return the person's membership by a link, once; a member uses nothing up and keeps the role.

    Raises InvitationUsed, InvitedUnderAnotherAddress.
    """
    invitation = Invitation.objects.open().with_token(token).select_related("team").exclude(team=None).first()
    if invitation is None or invitation.team is None:
        raise InvitationUsed
    if invitation.email and invitation.email != user.email.lower():
        raise InvitedUnderAnotherAddress
    # The lock of the user's row: two clicks at once use up one use.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    known = TeamMember.objects.filter(team=invitation.team, user=user).first()
    if known is not None:
        return known
    is_last = Case(When(uses_left=1, then=Now()), default=Value(None))
    # A join would read what the first of two uses at once found, not what it left.
    left = Invitation.objects.filter(pk=invitation.pk, revoked_at=None, uses_left__gte=1)
    left = left.exclude(joined__contains=[user.pk])
    joined = Func(F("joined"), user.pk, function="array_append")
    if left.update(uses_left=F("uses_left") - 1, used_at=is_last, joined=joined) != 1:
        raise InvitationUsed
    audit.record(user, "join team", f"team {invitation.team.slug}", role=invitation.role)
    return TeamMember.objects.create(
        team=invitation.team, user=user, role=invitation.role, origin=TeamMember.Origin.INVITATION
    )


@transaction.atomic
def revoke_invitation(*, by: User, invitation: Invitation) -> None:
    if Invitation.objects.open().filter(pk=invitation.pk).update(revoked_at=Now()):
        audit.record(by, "revoke invitation", invitation)


@transaction.atomic
def add_member(*, by: User, team: Team, user: User, role: Role) -> TeamMember:
    """Add the person, or change the role of a member. Raises LastOwner."""
    _lock(team)
    known = TeamMember.objects.filter(team=team, user=user).first()
    if known is not None and role != Role.OWNER:
        _refuse_without_owner(known)
    member, _is_new = TeamMember.objects.update_or_create(team=team, user=user, defaults={"role": role})
    _revoke_tokens_without_use(member)
    if role == Role.OWNER:
        Team.objects.filter(pk=team.pk).update(waits_since=None)
    audit.record(by, "set role in team", f"team {team.slug}", member=user.pk, role=role)
    return member


def set_role(*, by: User, member: TeamMember, role: Role) -> None:
    """Raises LastOwner, and NotFound for a member who has left meanwhile."""
    if not TeamMember.objects.filter(pk=member.pk).exists():
        raise NotFound
    add_member(by=by, team=member.team, user=member.user, role=role)


@transaction.atomic
def remove_member(*, by: User, member: TeamMember) -> None:
    """End the membership and its tokens; the person's own sessions stay theirs. Raises LastOwner."""
    _lock(member.team)
    _refuse_without_owner(member)
    _remove(member)
    audit.record(by, "remove from team", f"team {member.team.slug}", member=member.user_id)


@transaction.atomic
def set_role_by_issuer(*, team: Team, user: User, role: Role, issuer: str) -> None:
    """Make the person a member by an issuer's groups, or change the role; a last owner is replaced."""
    _lock(team)
    known = TeamMember.objects.filter(team=team, user=user).first()
    if known is not None and role != Role.OWNER:
        hand_over(known)
    member, _is_new = TeamMember.objects.update_or_create(
        team=team, user=user, defaults={"role": role, "origin": TeamMember.Origin.ISSUER}
    )
    _revoke_tokens_without_use(member)
    if role == Role.OWNER:
        Team.objects.filter(pk=team.pk).update(waits_since=None)
    audit.record(None, "set role in team", f"team {team.slug}", member=user.pk, role=role, issuer=issuer)


@transaction.atomic
def end_by_issuer(member: TeamMember, *, issuer: str) -> None:
    """End the membership of a person whom the issuer no longer names; a last owner is replaced."""
    hand_over(member)
    _remove(member)
    audit.record(None, "remove from team", f"team {member.team.slug}", member=member.user_id, issuer=issuer)


@transaction.atomic
def leave_all_teams(user: User) -> None:
    """End every membership of an account that is being deleted."""
    for member in TeamMember.objects.filter(user=user).select_related("team").order_by("team"):
        hand_over(member)
        _remove(member)


@transaction.atomic
def hand_over_teams(user: User) -> None:
    """Find owners beside a person who is blocked; the person's own role stays."""
    owned = TeamMember.objects.active().filter(user=user, role=Role.OWNER)
    for member in owned.select_related("team").order_by("team"):
        hand_over(member)


@transaction.atomic
def remove_team(team: Team) -> None:
    """Forget the members and name of an archived team whose texts are deleted; its row keeps the votes' place."""
    due = Team.objects.due_for_removal().select_for_update(no_key=True).filter(pk=team.pk).first()
    if due is None:  # restored meanwhile
        return
    TeamMember.objects.filter(team=team).delete()
    Invitation.objects.filter(team=team).delete()
    ApiToken.objects.filter(team=team, revoked_at=None).update(revoked_at=Now())
    Team.objects.filter(pk=team.pk).update(name="", slug=f"_{team.pk}", waits_since=None, removed_at=Now())
    audit.record(None, "remove team", f"team {team.pk}")


def hand_over(member: TeamMember) -> None:
    """Find an owner in place of one who is about to go without having been able to choose one.

    The longest-serving manager becomes owner; without one, the team waits for an administrator.
    """
    team = _lock(member.team)
    if not _is_last_owner(member):
        return
    manager = _successor_of(member)
    if manager is None:
        Team.objects.filter(pk=team.pk).update(waits_since=Now())
    else:
        TeamMember.objects.filter(pk=manager.pk).update(role=Role.OWNER)
    audit.record(None, "hand over team", f"team {team.slug}", owner=manager and manager.user_id)


class TeamLeft(NamedTuple):
    """A team that a deleted account leaves. has_no_owner: it waits for an administrator then."""

    team: Team
    successor: User | None
    has_no_owner: bool


def teams_left_by(user: User) -> list[TeamLeft]:
    left = []
    for member in TeamMember.objects.active().filter(user=user).select_related("team").order_by("team__name"):
        is_last = _is_last_owner(member)
        manager = _successor_of(member) if is_last else None
        successor = None if manager is None else manager.user
        left.append(TeamLeft(member.team, successor, is_last and manager is None))
    return left


def _lock(team: Team) -> Team:
    return Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def _is_last_owner(member: TeamMember) -> bool:
    owners = TeamMember.objects.filter(team=member.team_id, role=Role.OWNER)
    return list(owners.values_list("pk", flat=True)) == [member.pk]


def _successor_of(member: TeamMember) -> TeamMember | None:
    """Return the longest-serving manager who can sign in; that person becomes owner when the last one goes."""
    managers = TeamMember.objects.filter(team=member.team_id, role=Role.MANAGER, user__is_active=True)
    blocked = Ban.objects.in_force().filter(user__isnull=False)
    managers = managers.exclude(user__in=blocked.values("user"))
    return managers.select_related("user").order_by("joined_at", "pk").first()


def _refuse_without_owner(member: TeamMember) -> None:
    if not _is_last_owner(member):
        return
    first = _successor_of(member)
    raise LastOwner(_("Make %(person)s an owner first, for example.") % {"person": first.user} if first else "")


def _revoke_tokens_without_use(member: TeamMember) -> None:
    if not has_right(member.role, Right.USE):
        _revoke_tokens(member)


def _revoke_tokens(member: TeamMember) -> None:
    ApiToken.objects.filter(user=member.user_id, team=member.team_id, revoked_at=None).update(revoked_at=Now())


def _remove(member: TeamMember) -> None:
    _revoke_tokens(member)
    TeamMember.objects.filter(pk=member.pk).delete()
