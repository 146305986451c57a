"""Idempotency-Key of requests without a stream: a repeated request gets the first answer.

The stored answer is encrypted with a key made of the caller's token, which is not stored.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.errors import IdempotencyKeyReused, StillRunning
from accounts.models import IdempotencyKey
from gateway.authentication import Caller
from gateway.parsing.fields import BadField
from gateway.payload_types import CompletionPayload

# The process of an older request without a result was killed.
MAX_RUNNING = timedelta(minutes=15)


@dataclass
class Claim:
    """This request's right to store the answer under its key. answer: of an earlier request, as JSON."""

    row: IdempotencyKey
    secret: str = field(repr=False)
    answer: bytes | None = None
    is_over: bool = False

    def store(self, payload: CompletionPayload) -> None:
        sealed = _cipher(self.secret, self.row.key).encrypt(msgspec.json.encode(payload)).decode()
        IdempotencyKey.objects.filter(pk=self.row.pk).update(status=200, body={"sealed": sealed})
        self.is_over = True

    def release(self) -> None:
        """Let a repeated request run."""
        IdempotencyKey.objects.filter(pk=self.row.pk, status=None).delete()
        self.is_over = True


def claim(request: HttpRequest, caller: Caller, body: bytes) -> Claim | None:
    """Return None without a key. Raises BadField, IdempotencyKeyReused and StillRunning."""
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        return None
    if len(key) > 255:
        raise BadField("Idempotency-Key may have at most 255 characters.")
    request_hash = hashlib.sha256(b"POST\n" + request.path.encode() + b"\n" + body).hexdigest()
    row, is_new = IdempotencyKey.objects.get_or_create(
        actor=caller.actor.key, key=key, defaults={"request_hash": request_hash}
    )
    found = Claim(row, caller.secret)
    if row.request_hash != request_hash:
        raise IdempotencyKeyReused
    if row.status is not None:
        found.answer = _stored_answer(row, caller.secret)
    elif not is_new and not _take_over(row):
        raise StillRunning(retry_after=1)
    return found


def _stored_answer(row: IdempotencyKey, secret: str) -> bytes:
    """Raises IdempotencyKeyReused where another token, or another endpoint, stored the result."""
    sealed = (row.body or {}).get("sealed", "")
    try:
        return _cipher(secret, row.key).decrypt(sealed)
    except (InvalidToken, TypeError):
        raise IdempotencyKeyReused from None


def _take_over(row: IdempotencyKey) -> bool:
    if row.created_at > timezone.now() - MAX_RUNNING:
        return False
    abandoned = IdempotencyKey.objects.filter(pk=row.pk, status=None, created_at=row.created_at)
    return abandoned.update(created_at=Now()) == 1


def _cipher(secret: str, key: str) -> Fernet:
    digest = salted_hmac("gateway.idempotency", f"{secret}\0{key}", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(digest))
