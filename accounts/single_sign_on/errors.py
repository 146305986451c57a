"""Refusals by issuers, each with a code. Pages lead back to sign-in."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.single_sign_on.issuers import Issuer
from common.errors import ArenaError


class SignOnRefused(ArenaError):
    """Refusal whose message may name the issuer and `value`.

    problem: for operators, as in the log; members do not see it.
    """

    problem = ""
    code = "sign_on_refused"
    message: str | Promise = _("%(issuer)s did not sign you in. Try again.")
    http_status = 401

    def __init__(self, issuer: Issuer, value: str = "", *, retry_after: float | None = None) -> None:
        message = str(self.message) % {"issuer": issuer.name, "value": value}
        super().__init__(message, retry_after=retry_after)


class IssuerUnreachable(SignOnRefused):
    code = "issuer_unreachable"
    message = _("%(issuer)s cannot be reached at the moment. Try again, or sign in another way.")
    http_status = 503

    def __init__(self, issuer: Issuer, problem: str = "") -> None:
        super().__init__(issuer, retry_after=10)
        self.problem = problem


class IssuerAnswerInvalid(SignOnRefused):
    code = "issuer_answer_invalid"
    message = _("%(issuer)s answered with something that is not OpenID Connect. Please tell the arena’s operator.")
    http_status = 502

    def __init__(self, issuer: Issuer, problem: str = "", *, named: str = "") -> None:
        super().__init__(issuer)
        self.problem, self.named = problem, named


class TokenInvalid(SignOnRefused):
    """`reason` becomes part of the code: id_token_expired."""

    kind = "id_token"
    message = _("The sign-in of %(issuer)s could not be verified (%(value)s). Try again.")

    def __init__(self, issuer: Issuer, reason: str) -> None:
        super().__init__(issuer, reason)
        self.reason, self.code = reason, f"{self.kind}_{reason}"


class UserinfoInvalid(TokenInvalid):
    kind = "userinfo"


class ClaimInvalid(SignOnRefused):
    code = "claim_invalid"
    message = _("%(issuer)s sent a value that the arena cannot use: “%(value)s”. Please tell the arena’s operator.")


class ClaimTooLong(ClaimInvalid):
    code = "claim_too_long"
    message = _("%(issuer)s sent a value that is too long: “%(value)s”. Please tell the arena’s operator.")


class StateInvalid(SignOnRefused):
    code = "sign_on_state"
    message = _("This sign-in was already used, has expired, or was begun in another browser. Start again.")


class CodeRefused(SignOnRefused):
    code = "sign_on_code"
    message = _("%(issuer)s did not accept this sign-in: it was already used, or has expired. Start again.")


class Cancelled(SignOnRefused):
    code = "sign_on_cancelled"
    message = _("%(issuer)s did not sign you in: you cancelled, or may not use this arena.")


class NoAddress(SignOnRefused):
    code = "no_address"
    message = _("%(issuer)s did not send your e-mail address, which the arena needs for an account.")


class AddressNotVerified(SignOnRefused):
    code = "address_not_verified"
    message = _("%(issuer)s has not verified your e-mail address. Have it verified there, then try again.")


class AddressTaken(SignOnRefused):
    code = "address_taken"
    message = _(
        "An account was prepared for your e-mail address, but %(issuer)s does not say that the address is verified. "
        "Please tell the arena’s operator."
    )
    http_status = 409


class AddressOfAnotherDomain(SignOnRefused):
    code = "address_of_another_domain"
    message = _("%(issuer)s does not sign in addresses of “%(value)s” here. Sign in another way.")


class NoNewAccounts(SignOnRefused):
    code = "no_new_accounts"
    message = _("You have no account here, and %(issuer)s cannot make one. Ask the arena’s operator.")
    http_status = 403


class LastWayIn(SignOnRefused):
    code = "last_way_in"
    message = _("%(issuer)s is your only way to sign in. Set a password first, or keep it connected.")
    http_status = 409
