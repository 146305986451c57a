"""Rights of administrators only: over staff, and over one's own bans and votes.

Actions call these functions. `by` is None for a command.
"""

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.actor import actor_keys
from accounts.errors import NeedsAdministrator
from accounts.models import Ban, StaffNetwork, User, Visitor
from common.client_ip import hash_month, kept_months

_ONLY_LIFTED_BY_ADMINISTRATOR = gettext_lazy("Only an administrator can lift a block that holds for you.")
MODERATORS = "Moderators"  # the group, whose permissions are in arena_site.moderators


def is_administrator(by: User | None) -> bool:
    return by is None or by.is_administrator


def refuse_ban(ban: Ban, *, by: User) -> None:
    """Raise NeedsAdministrator where the ban reaches staff, also by network.

    It may reach staff where the network's hash is of a month whose networks of staff are no longer kept.
    """
    if is_administrator(by):
        return
    if ban.network and hash_month(ban.network) < kept_months()[0]:
        raise NeedsAdministrator(_("Only an administrator can block a network by a name that is older than 60 days."))
    if _members_in(ban).filter(Q(is_staff=True) | Q(is_superuser=True)).exists():
        raise NeedsAdministrator(_("Only an administrator can block staff, or a network that staff comes from."))


def refuse_lift(ban: Ban, *, by: User, network: str) -> None:
    """Raise NeedsAdministrator where the ban is on `by` or their request's `network`."""
    if is_administrator(by):
        return
    if (ban.network != "" and ban.network == network) or _members_in(ban).filter(pk=by.pk).exists():
        raise NeedsAdministrator(_ONLY_LIFTED_BY_ADMINISTRATOR)


def refuse_blocked_staff(user: User | None) -> None:
    """Raise NeedsAdministrator for staff whose account is blocked."""
    if user is not None and user.is_active and user.is_staff and not user.has_staff_rights:
        raise NeedsAdministrator(_ONLY_LIFTED_BY_ADMINISTRATOR)


def protected_voters(by: User | None) -> list[str]:
    """Return voters that `by` may not judge: themselves and administrators."""
    if by is None or is_administrator(by):
        return []
    return actor_keys(by, *User.objects.filter(is_superuser=True))


def _members_in(ban: Ban) -> QuerySet[User]:
    """Return members; for a network, those who were its visitors, and active staff who came from it."""
    if ban.user_id is not None:
        return User.objects.filter(pk=ban.user_id)
    if ban.visitor_id is not None:
        return User.objects.filter(visitors=ban.visitor_id)
    staff = Q(pk__in=StaffNetwork.objects.filter(network=ban.network).values("user"), is_active=True)
    return User.objects.filter(Q(pk__in=Visitor.objects.filter(network=ban.network).values("claimed_by")) | staff)
