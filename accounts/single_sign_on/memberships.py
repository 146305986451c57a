"""Memberships in teams by the groups that an issuer names, renewed at each sign-in."""

from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import audit
from accounts.models import IssuerGroup, Role, Team, TeamMember, User
from accounts.single_sign_on.identity import Groups, Identity, Named
from accounts.teams import actions

# The highest first: a person in several groups has the highest of their roles.
_ORDER = list(Role)


class Membership(NamedTuple):
    """role: in the team, or "" for no member. state: of the claims that were read for it."""

    team: str
    role: str
    state: Groups


@transaction.atomic
def apply_teams(user: User, identity: Identity) -> list[Membership]:
    """Renew memberships that the issuer decides, and return them. An absent or unknown claim ends nothing."""
    of_issuer = IssuerGroup.objects.filter(issuer=identity.issuer.key, team__archived_at=None)
    groups = of_issuer.select_related("team").order_by("team")
    return [_renew(user, identity, team, list(of_team)) for team, of_team in groupby(groups, attrgetter("team"))]


def _renew(user: User, identity: Identity, team: Team, groups: list[IssuerGroup]) -> Membership:
    read = {group: identity.named.get(group.claim, Named()) for group in groups}
    roles = {Role(group.role) for group, named in read.items() if group.group in named.names}
    role = min(roles, key=_ORDER.index, default=None)
    known = TeamMember.objects.filter(team=team, user=user).select_related("team", "user").first()
    states = {named.state for named in read.values()}
    state = next((state for state in (Groups.UNKNOWN, Groups.ABSENT) if state in states), Groups.SENT)
    if known is not None and known.origin != TeamMember.Origin.ISSUER:
        return Membership(team.slug, known.role, state)
    if role is not None:
        if known is None or known.role != role:
            actions.set_role_by_issuer(team=team, user=user, role=role, issuer=identity.issuer.key)
        return Membership(team.slug, role, Groups.SENT)
    if known is None:
        return Membership(team.slug, "", state)
    if state is not Groups.SENT:
        subject, issuer = f"team {team.slug}", identity.issuer.key
        audit.record(None, "keep role in team", subject, issuer=issuer, member=user.pk, claims=state.value)
        return Membership(team.slug, known.role, state)
    actions.end_by_issuer(known, issuer=identity.issuer.key)
    return Membership(team.slug, "", state)


def limit_session(request: HttpRequest, user: User) -> None:
    if TeamMember.objects.active().filter(user=user, origin=TeamMember.Origin.ISSUER).exists():
        hours = settings.ARENA_SSO_TEAM_SESSION_HOURS
        request.session.set_expiry(timezone.now() + timedelta(hours=hours))
