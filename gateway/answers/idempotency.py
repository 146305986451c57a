"""Idempotency-Key of requests without a stream: a repeated request gets the first answer.

The stored answer is sealed with the caller's token. A battle's answers are its own rows: its exchange is stored.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone

from accounts.api.idempotency import claim_key
from accounts.errors import IdempotencyKeyReused, StillRunning
from accounts.models import IdempotencyKey
from common.conversation.errors import BadField
from common.payload_types import JsonObject
from gateway.answers.sealing import NotReadable, seal, unseal
from gateway.authentication import Caller
from gateway.models import Exchange

# The process of an older request without a result was killed.
MAX_RUNNING = timedelta(minutes=15)


@dataclass
class Claim:
    """This request's right to store the answer under its key.

    answer: of an earlier request, as JSON; exchange: of one that started a battle.
    """

    row: IdempotencyKey
    secret: str = field(repr=False)
    answer: bytes | None = None
    exchange: Exchange | None = None
    is_over: bool = False

    def store(self, payload: JsonObject) -> None:
        sealed = seal(self.secret, self.row.key, msgspec.json.encode(payload))
        IdempotencyKey.objects.filter(pk=self.row.pk).update(status=200, body={"sealed": sealed})
        self.is_over = True

    def store_battle(self, exchange: Exchange) -> None:
        """Let repeated requests wait for this exchange's battle."""
        IdempotencyKey.objects.filter(pk=self.row.pk).update(body={"exchange": exchange.public_id})

    def release(self) -> None:
        """Let a repeated request run, unless a battle has started."""
        IdempotencyKey.objects.filter(pk=self.row.pk, status=None, body__isnull=True).delete()
        self.is_over = True

    def forget(self) -> None:
        """Let a repeated request run after a battle without two answers."""
        IdempotencyKey.objects.filter(pk=self.row.pk).delete()


def claim(request: HttpRequest, caller: Caller, body: bytes) -> Claim | None:
    """Return None without a key. Raises BadField, IdempotencyKeyReused and StillRunning."""
    key = request.headers.get("Idempotency-Key", "")
    if not key:
        return None
    if len(key) > 255:
        raise BadField("Idempotency-Key may have at most 255 characters.")
    request_hash = hashlib.sha256(b"POST\n" + request.path.encode() + b"\n" + body).hexdigest()
    row, is_new = claim_key(caller.actor.key, key, request_hash)
    claim = Claim(row, caller.secret)
    if started := (row.body or {}).get("exchange"):
        claim.exchange = _exchange(started, caller)
    elif row.status is not None:
        claim.answer = _stored_answer(row, caller.secret)
    elif not is_new and not _take_over(row):
        raise StillRunning(retry_after=1)
    return claim


def _exchange(public_id: str, caller: Caller) -> Exchange:
    """Raises IdempotencyKeyReused where another token started the battle."""
    started = Exchange.objects.filter(public_id=public_id, token=caller.token).select_related("battle").first()
    if started is None:
        raise IdempotencyKeyReused
    return started


def _stored_answer(row: IdempotencyKey, secret: str) -> bytes:
    """Raises IdempotencyKeyReused where another token, or another endpoint, stored the result."""
    sealed = (row.body or {}).get("sealed", "")
    try:
        return unseal(secret, row.key, sealed)
    except NotReadable:
        raise IdempotencyKeyReused from None


def _take_over(row: IdempotencyKey) -> bool:
    if row.created_at > timezone.now() - MAX_RUNNING:
        return False
    abandoned = IdempotencyKey.objects.filter(pk=row.pk, status=None, created_at=row.created_at)
    return abandoned.update(created_at=Now()) == 1
