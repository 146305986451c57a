"""The place in which a request acts: personal, or one team.

A token belongs to one place. A browser chooses a place for new things; its forms and pages name it, so that two tabs
can be in two places.
"""

from urllib.parse import urlencode

from django.http import HttpRequest

from accounts.actor import Actor, ActorRequest
from accounts.errors import NotInTeam
from accounts.models import Invitation, Team, TeamMember, User
from accounts.teams.roles import Right, has_right, teams_with
from common.errors import NotAllowed, NotFound

# Name of the parameter in forms, queries and bodies of the API: the slug of a team, "" for personal.
PARAMETER = "team"
_SESSION_KEY = "place"  # the id of a team


def find_member(actor: Actor, slug: str, right: Right | None) -> TeamMember:
    """Return the actor's membership in a team. right: None for any role.

    Raises NotFound for a team that the actor is not in, NotAllowed where the role lacks the right.
    """
    member = next((member for member in actor.memberships.values() if member.team.slug == slug), None)
    if member is None:
        raise NotFound
    if right is not None and not has_right(member.role, right):
        raise NotAllowed
    return member


def usable_teams(user: User) -> list[Team]:
    """Return the person's teams in which something new can begin."""
    return list(teams_with(user.memberships, Right.USE).values())


def chosen_place(request: ActorRequest) -> Team | None:
    """Return the place that the page's address names, else the browser's choice; None: personal.

    Raises NotFound as find_member.
    """
    if PARAMETER in request.GET:
        return place_named(request.actor, request.GET[PARAMETER])
    chosen = _stored_choice(request)
    return teams_with(request.actor.memberships, Right.USE).get(chosen) if chosen else None


def place_of_form(request: ActorRequest) -> Team | None:
    """Return the place that the sent form names; a form without the field acts in the browser's choice."""
    if PARAMETER in request.POST:
        return place_named(request.actor, request.POST[PARAMETER])
    return chosen_place(request)


def place_named(actor: Actor, slug: str | None) -> Team | None:
    """Return the place for new things. slug: "" for personal, None for the token's place or personal.

    Raises NotFound for a team that the actor is not in, and for another place than the token's.
    """
    if slug is None:
        return actor.place
    if actor.token is not None and slug != (actor.place.slug if actor.place else ""):
        raise NotFound
    return find_member(actor, slug, Right.USE).team if slug else None


def require_place_id(actor: Actor, team_id: int | None) -> None:
    """Raise NotInTeam where the actor may no longer use the team of a session or a run."""
    if team_id is not None and team_id not in teams_with(actor.memberships, Right.USE):
        raise NotInTeam


def require_member_id(actor: Actor, team_id: int | None) -> None:
    """Raise NotInTeam outside of the team of a review, which asks guests, too."""
    if team_id is not None and team_id not in actor.memberships:
        raise NotInTeam


def choose_place(request: HttpRequest, team: Team | None) -> None:
    """Store the choice for what this browser begins from now on."""
    if team is not None:
        request.session[_SESSION_KEY] = team.pk
    else:
        request.session.pop(_SESSION_KEY, None)


def _stored_choice(request: HttpRequest) -> int | None:
    chosen = request.session.get(_SESSION_KEY)
    return chosen if isinstance(chosen, int) else None


def get_member(team: Team, public_id: str) -> TeamMember:
    """Raises NotFound."""
    members = TeamMember.objects.filter(team=team).select_related("team", "user")
    member = members.filter(public_id=public_id).first() if "\x00" not in public_id else None
    if member is None:
        raise NotFound
    return member


def get_invitation(team: Team, public_id: str) -> Invitation:
    """Raises NotFound for invitations that are not open."""
    of_team = Invitation.objects.open().filter(team=team)
    invitation = of_team.filter(public_id=public_id).first() if "\x00" not in public_id else None
    if invitation is None:
        raise NotFound
    return invitation


def join_query(token: str) -> str:
    """Return the query of a link into a team."""
    return urlencode({"invitation": token})
