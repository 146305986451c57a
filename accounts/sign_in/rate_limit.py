"""Limits on wrong passwords: for an address, whether it has an account or not, and from a network."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.actor import network_limit_keys
from accounts.sign_in import device_cookies
from common.client_ip import network_hash
from common.valkey import limits

NOT_COUNTED = _("Signing in is temporarily unavailable. Please try again.")


def attempt_keys(request: HttpRequest, email: str) -> limits.Keys:
    """Return the keys for limits.count: the browser's device cookie alone, or the address and the networks."""
    if nonce := device_cookies.get_nonce(request, email):
        return {"person": f"device:{nonce}"}
    address = _address(email)
    return {"person": f"{address}:{network_hash(request)}", "address": address, **network_limit_keys(request)}


def count(keys: limits.Keys) -> None:
    """Count an attempt before its password is checked, so that simultaneous ones cannot pass the limit.

    uncount uncounts it when the password was right. Raises TooManyRequests, and ServiceAway when Valkey is away.
    """
    limits.count("signin", keys, fail_open=False, not_counted=NOT_COUNTED)


def uncount(keys: limits.Keys) -> None:
    limits.uncount("signin", keys)


def reset(email: str) -> None:
    """Start anew for an address whose owner proved by e-mail that it is theirs."""
    limits.reset("signin", {"address": _address(email)})


def _address(email: str) -> str:
    return f"address:{salted_hmac('accounts.sign_in.rate_limit', email.lower(), algorithm='sha256').hexdigest()[:32]}"
