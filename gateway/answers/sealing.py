"""Encryption of stored answers with a key made of the caller's token."""

import base64

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac

NotReadable = InvalidToken


def seal(secret: str, name: str, content: bytes) -> str:
    """secret: of the token; name: of the content, needed to read it."""
    return _cipher(secret, name).encrypt(content).decode()


def unseal(secret: str, name: str, sealed: str) -> bytes:
    """Raises NotReadable with another token or name."""
    return _cipher(secret, name).decrypt(sealed)


def _cipher(secret: str, name: str) -> Fernet:
    digest = salted_hmac("gateway.answers.idempotency", f"{secret}\0{name}", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(digest))
