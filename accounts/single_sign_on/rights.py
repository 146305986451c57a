"""Rights by an issuer's groups, where the settings name a group."""

from django.contrib.auth.models import Group
from django.db import transaction

from accounts import audit
from accounts.models import User
from accounts.single_sign_on.identity import Identity
from accounts.staff_rights import MODERATORS


@transaction.atomic
def apply_groups(user: User, identity: Identity) -> None:
    """Set rights that the settings leave to the issuer. Administrators keep theirs."""
    issuer = identity.issuer
    if not issuer.maps_groups:
        return
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if user.is_superuser:
        return
    moderators, was_moderator = Group.objects.get(name=MODERATORS), user.groups.filter(name=MODERATORS).exists()
    is_moderator = issuer.moderators_group in identity.groups if issuer.moderators_group else was_moderator
    if is_moderator != was_moderator:
        (user.groups.add if is_moderator else user.groups.remove)(moderators)
    if issuer.staff_group:
        is_staff = is_moderator or issuer.staff_group in identity.groups
    else:  # rights that an administrator gave need staff, too
        is_staff = is_moderator or (
            user.is_staff and (not was_moderator or user.groups.exists() or user.user_permissions.exists())
        )
    if (is_staff, is_moderator) != (user.is_staff, was_moderator):
        User.objects.filter(pk=user.pk).update(is_staff=is_staff)
        audit.record(
            None, "rights of an issuer", f"user {user.pk}",
            issuer=issuer.key, is_staff=is_staff, is_moderator=is_moderator,
        )  # fmt: skip
