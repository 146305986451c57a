"""Rights that the settings leave to an issuer, and why a person has them."""

from enum import StrEnum
from typing import NamedTuple

from allauth.socialaccount.models import SocialLogin
from django.contrib.auth.models import Group
from django.db import transaction

from accounts import audit
from accounts.models import User
from accounts.single_sign_on.identity import RIGHTS_KEY, Groups, Identity
from accounts.staff_rights import MODERATORS


class Reason(StrEnum):
    """Why a person has a right, or has it not."""

    CONTAINS = "contains"
    LACKS = "lacks"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    NO_GROUP = "no_group"
    MODERATOR = "moderator"
    ADMINISTRATOR = "administrator"


class Rule(NamedTuple):
    right: str
    has: bool
    reason: Reason


@transaction.atomic
def apply_groups(user: User, login: SocialLogin) -> list[Rule]:
    """Set rights that the settings leave to the issuer; return why. Administrators keep theirs."""
    identity: Identity = login.identity
    issuer = identity.issuer
    if not issuer.maps_groups:
        return []
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_superuser:
        return [Rule("staff", True, Reason.ADMINISTRATOR)]
    moderators, was_moderator = Group.objects.get(name=MODERATORS), user.groups.filter(name=MODERATORS).exists()
    had = {"moderator": was_moderator, "staff": user.is_staff}
    given = login.account.extra_data.get(RIGHTS_KEY, [])
    groups = {"moderator": issuer.moderators_group, "staff": issuer.staff_group}
    of_moderators, of_staff = (
        _rule(right, groups[right], identity, has=had[right], is_given=right in given) for right in had
    )
    is_moderator = of_moderators.has
    if is_moderator != was_moderator:
        (user.groups.add if is_moderator else user.groups.remove)(moderators)
    if not issuer.staff_group and was_moderator:  # rights that an administrator gave need staff, too
        is_needed = user.groups.exists() or user.user_permissions.exists()
        of_staff = of_staff._replace(has=user.is_staff and is_needed)
    if is_moderator and of_staff.reason is not Reason.CONTAINS:
        of_staff = Rule("staff", True, Reason.MODERATOR)
    if (of_staff.has, is_moderator) != (user.is_staff, was_moderator):
        User.objects.filter(pk=user.pk).update(is_staff=of_staff.has)
        audit.record(
            None, "rights of an issuer", f"user {user.pk}",
            issuer=issuer.key, is_staff=of_staff.has, is_moderator=is_moderator,
            because={"staff": of_staff.reason, "moderator": of_moderators.reason},
        )  # fmt: skip
    rules = [of_staff, of_moderators]
    login.account.extra_data[RIGHTS_KEY] = [
        rule.right for rule in rules if rule.has and (rule.right in given or not had[rule.right])
    ]
    login.account.save(update_fields=["extra_data"])
    return rules


def _rule(right: str, group: str, identity: Identity, *, has: bool, is_given: bool) -> Rule:
    """Return whether the person has the right from now on, and why.

    A claim without the group takes the right away; an absent one only takes away a right that the issuer gave.
    """
    if not group:
        return Rule(right, has, Reason.NO_GROUP)
    state, names = identity.of_settings
    if state is Groups.UNKNOWN:
        return Rule(right, has, Reason.UNKNOWN)
    if state is Groups.ABSENT:
        return Rule(right, has and not is_given, Reason.ABSENT)
    is_member = group in names
    return Rule(right, is_member, Reason.CONTAINS if is_member else Reason.LACKS)
