"""Limits on wrong passwords per e-mail address, known or not, and per network."""

from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.actor import network_limit_keys
from accounts.sign_in import device_cookies
from common.client_ip import network_hash
from common.valkey import limits

NOT_COUNTED = _("Signing in is temporarily unavailable. Please try again.")


def attempt_keys(request: HttpRequest, email: str) -> limits.Keys:
    """Return the device cookie's key, or else those of address and networks."""
    if nonce := device_cookies.get_nonce(request, email):
        return {"person": limits.Key(f"device:{nonce}")}
    address = _address_key(email)
    person = limits.Key(f"{address}:{network_hash(request)}")
    return {"person": person, "address": limits.Key(address), **network_limit_keys(request)}


def count(keys: limits.Keys) -> None:
    """Count before the password is checked: simultaneous attempts cannot pass the limit.

    `uncount` takes a right one back. Raises TooManyRequests, and ServiceAway when Valkey is away.
    """
    limits.count("signin", keys, fail_open=False, not_counted=NOT_COUNTED)


def uncount(keys: limits.Keys) -> None:
    limits.uncount("signin", keys)


def reset(email: str) -> None:
    limits.reset("signin", {"address": limits.Key(_address_key(email))})


def _address_key(email: str) -> str:
    return f"address:{salted_hmac('accounts.sign_in.rate_limit', email.lower(), algorithm='sha256').hexdigest()[:32]}"
