"""No passwords for addresses of an issuer's domains."""

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.single_sign_on import linking
from accounts.single_sign_on.issuers import Issuer, issuer_of_address


def refusal(issuer: Issuer) -> str:
    return _("This address signs in with %(issuer)s, without a password.") % {"issuer": issuer.name}


def refuse_address(request: HttpRequest, email: str) -> None:
    """Raise ValidationError for addresses of issuers' domains.

    Except where the next sign-in with a password connects the account.
    """
    issuer = issuer_of_address(email)
    if issuer is not None and not linking.allows_password(request, email):
        raise ValidationError(refusal(issuer), code="single_sign_on")


def issuer_instead_of_password(user: User) -> Issuer | None:
    """Return the issuer of any address, verified or not."""
    addresses = [user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)]
    return next((issuer for issuer in map(issuer_of_address, addresses) if issuer is not None), None)
