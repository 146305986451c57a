"""People who may read figures: operators all of them, owners of a team those of their team."""

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from common.errors import NotAllowed, NotFound, NotSignedIn

PERMISSION = "metrics.view_metricday"


def is_operator(actor: Actor) -> bool:
    """Return whether all figures are readable; a team's token acts in its team alone."""
    return actor.user is not None and actor.place_id is None and actor.user.has_perm(PERMISSION)


def readable_team(actor: Actor, slug: str) -> Team | None:
    """Return the team whose figures are asked for; None for the whole arena. slug: "" for the token's place.

    Raises NotFound for others' teams, NotSignedIn, and NotAllowed.
    """
    if actor.user is None:
        raise NotSignedIn
    if is_operator(actor):
        return _find_team(slug) if slug else None
    slug = slug or (actor.place.slug if actor.place else "")
    if not slug:
        raise NotAllowed
    return find_member(actor, slug, Right.OWN).team


def _find_team(slug: str) -> Team:
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise NotFound
    return team


def require_model_figures(actor: Actor) -> None:
    """Raise NotAllowed except for operators: owners of teams vote in them."""
    if not is_operator(actor):
        raise NotAllowed
