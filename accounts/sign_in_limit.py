"""How many wrong passwords there may be: for an address, whether somebody has it or not, and from a network."""

from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from common import limits

NOT_COUNTED = _("Signing in is paused for a moment: part of the arena is away. Please try again.")


def count(email: str, network: str) -> None:
    """Before the password is looked at: of many tries at once, no more than the limit are. A right one is given back.

    Raises TooManyRequests, and ServiceAway when nobody can count.
    """
    limits.count("signin", _keys(email, network), fail_open=False, not_counted=NOT_COUNTED)


def give_back(email: str, network: str) -> None:
    limits.give_back("signin", _keys(email, network))


def forget(email: str) -> None:
    """Somebody proved by e-mail whose address it is."""
    limits.forget("signin", {"address": _address(email)})


def _keys(email: str, network: str) -> limits.Keys:
    return {"network": f"network:{network}", "address": _address(email)}


def _address(email: str) -> str:
    return f"address:{salted_hmac('accounts.sign_in_limit', email.lower(), algorithm='sha256').hexdigest()[:32]}"
