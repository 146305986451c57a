"""Steps of every sign-in that depend on issuers."""

from allauth.socialaccount.models import SocialLogin
from django.contrib import messages
from django.contrib.auth.models import Group
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import audit
from accounts.models import User
from accounts.sign_in.sessions import ISSUER_KEY
from accounts.single_sign_on import linking, passwords
from accounts.single_sign_on.identity import Identity
from accounts.staff_rights import MODERATORS


def before_sign_in(request: HttpRequest, user: User, login: SocialLogin | None) -> HttpResponse | None:
    """Refuse accounts that sign in with an issuer only, passkeys and e-mailed links included."""
    if login is not None:
        request.session[ISSUER_KEY] = [login.identity.issuer.url, login.identity.session]
        _apply_groups(user, login.identity)
        return None
    issuer = passwords.issuer_instead_of_password(user)
    connecting = linking.pending_session(request, user)
    if issuer is not None and connecting is None:
        messages.error(request, passwords.refusal(issuer))
        return redirect("account_login")
    request.session.pop(ISSUER_KEY, None)
    if connecting is not None:
        request.session[ISSUER_KEY] = connecting
    return None


@transaction.atomic
def _apply_groups(user: User, identity: Identity) -> None:
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
