from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, InvalidInput, NotAllowed, NotSignedIn


class IdempotencyKeyReused(ArenaError):
    code = "idempotency_key_reused"
    message = _("This Idempotency-Key was used with another request.")
    http_status = 422


class StillRunning(ArenaError):
    code = "still_running"
    message = _("The first request with this Idempotency-Key is still being answered.")
    http_status = 409


class TooManyTokens(ArenaError):
    code = "too_many_tokens"
    message = _("You have reached the maximum number of tokens. Revoke one first.")
    http_status = 409


class NotInBrowser(NotAllowed):
    message = _("Do this in the browser; a token cannot.")


class SignInNeeded(NotSignedIn):
    message = _("Please sign in: this arena is for its members.")


class InvitationUsed(ArenaError):
    code = "invitation_used"
    message = _("This invitation was already used or has expired. Ask for a new one.")
    http_status = 409


class Banned(NotAllowed):
    code = "banned"
    message = _("You are blocked from taking part in this arena.")


class NeedsAdministrator(NotAllowed):
    code = "needs_administrator"
    message = _("Only an administrator can do this.")


class ThisBrowser(ArenaError):
    code = "this_browser"
    message = _("This is the browser that you are using. It is signed out at /accounts/logout/.")
    http_status = 409


class LastAdministrator(ArenaError):
    code = "last_administrator"
    message = _("You are this arena's only administrator. Make another member an administrator first.")
    http_status = 409


class ConfirmFirst(NotAllowed):
    code = "reauthentication_required"
    message = _("Confirm your identity at /accounts/reauthenticate/ first, then repeat this within five minutes.")


class SlugTaken(InvalidInput):
    message = _("This address is taken. Choose another one.")


class LastOwner(ArenaError):
    code = "last_owner"
    message = _("A team needs an owner. Make another member an owner first.")
    http_status = 409


class InvitedUnderAnotherAddress(NotAllowed):
    code = "invited_under_another_address"
    message = _("Your invitation is for another e-mail address.")


class TooManyInvitations(ArenaError):
    code = "too_many_invitations"
    message = _("This team has reached the maximum number of open invitations. Revoke one first.")
    http_status = 409


class NotInTeam(NotAllowed):
    code = "not_in_team"
    message = _("You are no longer in the team of this session. It stays yours to read; its models do not answer you.")
