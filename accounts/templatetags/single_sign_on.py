from django import template

from accounts.models import User
from accounts.single_sign_on import linking
from accounts.single_sign_on.issuers import Issuer, all_issuers
from accounts.single_sign_on.passwords import issuer_instead_of_password

register = template.Library()


@register.simple_tag(takes_context=True)
def sign_on_issuers(context: template.Context) -> list[Issuer]:
    """Return no issuers while a sign-in is to connect an account."""
    request = context.get("request")
    return [] if request is None or linking.pending_issuer(request) else all_issuers()


@register.filter
def signs_in_without_password(user: User) -> bool:
    return bool(all_issuers()) and issuer_instead_of_password(user) is not None
