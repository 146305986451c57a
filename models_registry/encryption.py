"""Encrypt provider keys, and what servers want back, with ARENA_ENCRYPTION_KEYS (the first encrypts, all decrypt)."""

import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.views.decorators.debug import sensitive_variables


class KeyUnreadable(Exception):
    """Raised if this installation lacks the key that encrypted a stored key."""


def _cipher() -> MultiFernet:
    if not settings.ARENA_ENCRYPTION_KEYS:
        raise ImproperlyConfigured("ARENA_ENCRYPTION_KEYS must be set before a provider key can be stored or read")
    return MultiFernet([Fernet(key) for key in settings.ARENA_ENCRYPTION_KEYS])


@sensitive_variables("key")
def encrypt(key: str) -> bytes:
    return _cipher().encrypt(key.encode())


def decrypt(stored: bytes) -> str:
    """Raises KeyUnreadable."""
    try:
        return _cipher().decrypt(bytes(stored)).decode()
    except InvalidToken as error:
        raise KeyUnreadable from error


def is_current(stored: bytes) -> bool:
    """Return whether the first key encrypted it."""
    try:
        Fernet(settings.ARENA_ENCRYPTION_KEYS[0]).decrypt(bytes(stored))
    except InvalidToken:
        return False
    return True


def encrypt_again(stored: bytes) -> bytes:
    """Return it encrypted with the first key. Raises KeyUnreadable."""
    try:
        return _cipher().rotate(bytes(stored))
    except InvalidToken as error:
        raise KeyUnreadable from error


@sensitive_variables("key")
def fingerprint(key: str) -> str:
    """Return twelve hex digits by which people compare keys."""
    return hashlib.sha256(b"arena provider key\0" + key.encode()).hexdigest()[:12]
