from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session as BrowserSession
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts import audit, staff_rights
from accounts.actor import actor_keys
from accounts.errors import InvitationUsed, LastAdministrator, TooManyTokens
from accounts.models import ApiToken, Ban, IdempotencyKey, Invitation, Scope, SignIn, Team, User, Visitor
from accounts.personal_data import account_deleting
from accounts.teams.actions import hand_over_teams, join, leave_all_teams

MAX_TOKENS = 50


@transaction.atomic
def issue_token(
    *,
    user: User,
    name: str,
    scopes: list[Scope],
    expires_at: datetime | None = None,
    keeps_texts: bool = False,
    caches_answers: bool = False,
    team: Team | None = None,
) -> tuple[ApiToken, str]:
    """Return a new row and its token. Raises TooManyTokens."""
    User.objects.select_for_update().get(pk=user.pk)  # simultaneous requests must not pass the limit together
    if ApiToken.objects.held_by(user).count() >= MAX_TOKENS:
        raise TooManyTokens
    has_gateway = Scope.GATEWAY in scopes
    return ApiToken.issue(
        user=user, name=name, scopes=scopes, expires_at=expires_at,
        keeps_texts=keeps_texts and has_gateway, caches_answers=caches_answers and has_gateway,
        team=team,
    )  # fmt: skip


@transaction.atomic
def sign_out(sign_ins: QuerySet[SignIn], *, member: User, by: User) -> int:
    _, ended = BrowserSession.objects.filter(sign_in__in=sign_ins.filter(user=member)).delete()
    browsers = ended.get(BrowserSession._meta.label, 0)
    if browsers and by.is_staff:
        audit.record(by, "sign out", f"user {member.pk}", browsers=browsers)
    return browsers


@transaction.atomic
def invite(*, by: User, email: str = "", expires_at: datetime) -> tuple[Invitation, str]:
    """Return a new row and the token of its link. An empty `email` lets any address use it."""
    invitation, token = Invitation.issue(email=email.lower(), expires_at=expires_at, created_by=by)
    audit.record(by, "invite", invitation, expires_at=expires_at)
    return invitation, token


def accept_invitation(*, token: str, user: User) -> None:
    """Mark the invitation as used, in the transaction that creates the account. Raises InvitationUsed.

    An invitation into a team makes the new account its member.
    """
    of_link = Invitation.objects.with_token(token)
    if of_link.exclude(team=None).exists():
        join(user=user, token=token)
        return
    if of_link.open().update(used_at=Now(), used_by=user, uses_left=0) != 1:
        raise InvitationUsed
    audit.record(user, "accept invitation", of_link.get())


@transaction.atomic
def revoke_invitation(*, by: User, invitation: Invitation) -> None:
    if Invitation.objects.open().filter(pk=invitation.pk).update(revoked_at=Now()):
        audit.record(by, "revoke invitation", invitation)


@transaction.atomic
def ban(ban: Ban, *, by: User) -> None:
    """Store a new ban; other processes apply it within two seconds.

    Raises NeedsAdministrator where it reaches staff and `by` is no administrator.
    """
    staff_rights.refuse_ban(ban, by=by)
    ban.created_by = by
    ban.save()
    if ban.user is not None:
        hand_over_teams(ban.user)
    audit.record(by, "ban", ban, ban.reason, whom=ban.target, expires_at=ban.expires_at)


@transaction.atomic
def lift_ban(ban: Ban, *, by: User, network: str = "") -> None:
    """Lift a ban that is in force.

    network: bans.network_hash_in_month_of `by`'s request. Raises NeedsAdministrator where the ban is on `by` or that
    network, and `by` is no administrator.
    """
    staff_rights.refuse_lift(ban, by=by, network=network)
    in_force = Ban.objects.in_force().select_for_update().filter(pk=ban.pk).first()
    if in_force is not None:
        in_force.lifted_at, in_force.lifted_by = timezone.now(), by
        in_force.save(update_fields=["lifted_at", "lifted_by"])
        audit.record(by, "lift ban", in_force, whom=in_force.target)


@transaction.atomic
def delete_account(user: User, *, by: User | None = None) -> None:
    """Delete the account, its texts and personal data; votes and ratings stay anonymously.

    by: the administrator who acts for the member. Raises LastAdministrator.
    """
    administrators = User.objects.filter(is_superuser=True, is_active=True).select_for_update(of=("self",))
    if [administrator.pk for administrator in administrators] == [user.pk]:
        raise LastAdministrator
    leave_all_teams(user)
    account_deleting.send(sender=User, user=user)
    IdempotencyKey.objects.filter(actor__in=actor_keys(user)).delete()  # they hold responses
    Visitor.objects.filter(claimed_by=user).delete()
    Invitation.objects.filter(used_by=user).update(email="")
    BrowserSession.objects.filter(sign_in__user=user).delete()
    # Entries of Django's admin log hold e-mail addresses.
    LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=user.pk).delete()
    audit.record(by, "delete account" if by else "member deleted the account", f"user {user.pk}")
    user.delete()
