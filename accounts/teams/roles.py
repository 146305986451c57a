"""Rights of a team's roles: the one table that pages, API, gateway and tests use."""

from collections.abc import Mapping
from enum import StrEnum

from django.conf import settings

from accounts.models import Role, Team, TeamMember, User


class Right(StrEnum):
    """SEE: boards, runs, shared sessions, members. USE: battles and runs. EDIT: others' templates and runs.

    MANAGE: models, keys, prices, budgets, categories, rules. OWN: members, roles, invitations, settings, the end.
    """

    SEE = "see"
    USE = "use"
    EDIT = "edit"
    MANAGE = "manage"
    OWN = "own"


RIGHTS: dict[Role, frozenset[Right]] = {
    Role.OWNER: frozenset(Right),
    Role.MANAGER: frozenset({Right.SEE, Right.USE, Right.EDIT, Right.MANAGE}),
    Role.MEMBER: frozenset({Right.SEE, Right.USE}),
    # Guests see the reviews that they are invited to.
    Role.GUEST: frozenset(),
}


def has_right(role: str, right: Right) -> bool:
    return right in RIGHTS[Role(role)]


def teams_with(memberships: Mapping[int, TeamMember], right: Right) -> dict[int, Team]:
    """Return the teams by id in which the role has the right. memberships: of an Actor or a User."""
    return {pk: member.team for pk, member in memberships.items() if has_right(member.role, right)}


class Creators(StrEnum):
    ADMINISTRATORS = "administrators"
    MEMBERS = "members"


def may_create_team(user: User) -> bool:
    return Creators(settings.ARENA_TEAMS) is Creators.MEMBERS or user.is_administrator
