"""Limits on open event streams per person, network and process.

An open stream holds a slot: a member of its person's and its network's sorted set, whose score is its expiry. A process
renews its slots.
"""

import logging
import secrets
import threading
import time
import weakref
from functools import cache

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from redis.commands.core import Script

from common.errors import TooManyRequests
from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

LEASE_S, RENEW_INTERVAL_S = 30, 10
RETRY_AFTER_S = 10
_RENEW_BATCH_SIZE = 500
_SALT = "common.valkey.stream_slots"
# KEYS: sorted sets; ARGV: slot id, lease in seconds, cap of each set. Returns 0, or the index of the first full set.
_ACQUIRE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
for number, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[2 + number]) then return number end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[2], ARGV[1])
  redis.call('EXPIRE', key, ARGV[2])
end
return 0
"""


class TooManyStreams(TooManyRequests):
    code = "too_many_streams"
    message = _("The server has too many live streams open. Fetch the answers when they are complete.")


class TooManyStreamsOfPerson(TooManyStreams):
    message = _("You have too many live streams open. Close one, or fetch the answers when they are complete.")


class Slot:
    """Slot of an open stream, freed with its response, which holds the only reference."""

    def __init__(self, *, person: str, network: str) -> None:
        self.id = secrets.token_hex(8)
        self.keys = (f"streams:person:{person}", f"streams:network:{network}")
        self.is_renewed = False

    def discard(self) -> None:
        self.is_renewed = False
        with _lock:
            _open.discard(self)

    def release(self) -> None:
        """Free the slot; if Valkey is away, its lease expires instead."""
        self.discard()
        try:
            with fail_fast():
                _remove([self])
        except UNREACHABLE as error:
            logger.warning("a stream's slot is not freed: Valkey is away (%s)", error)


_lock = threading.Lock()
_open: weakref.WeakSet[Slot] = weakref.WeakSet()


def open_slots() -> list[Slot]:
    with _lock:
        return list(_open)


def acquire(*, person: str, network: str) -> Slot:
    """Return a slot for a new stream; without Valkey only this process's cap holds. Raises TooManyStreams."""
    _start_renewing()
    slot = Slot(person=person, network=network)
    with _lock:
        if len(_open) >= settings.ARENA_STREAMS["process"]:
            raise TooManyStreams(retry_after=RETRY_AFTER_S)
        _open.add(slot)
    try:
        with fail_fast():
            full = _acquire(slot)
    except UNREACHABLE as error:
        logger.warning("open streams are not counted: Valkey is away (%s)", error)
        full = 0
    if full:
        slot.discard()
        raise (TooManyStreamsOfPerson if full == 1 else TooManyStreams)(retry_after=RETRY_AFTER_S)
    slot.is_renewed = True
    return slot


def person_hash(actor_key: str) -> str:
    """Return a keyed hash of 16 characters, as a stream's URL may be seen by others."""
    return salted_hmac(_SALT, actor_key, algorithm="sha256").hexdigest()[:16] if actor_key else ""


def reader_parameter(actor_key: str) -> str:
    return signing.Signer(salt=_SALT).sign(person_hash(actor_key)) if actor_key else ""


def person_of_request(request: HttpRequest) -> str:
    """Return the person_hash in the `reader` parameter, "" when missing or forged."""
    try:
        return signing.Signer(salt=_SALT).unsign(request.GET.get("reader", ""))
    except signing.BadSignature:
        return ""


def renew() -> None:
    """Extend the leases of this process's slots. Raises one of UNREACHABLE."""
    slots = [slot for slot in open_slots() if slot.is_renewed]
    for start in range(0, len(slots), _RENEW_BATCH_SIZE):
        seconds, microseconds = connection().time()
        expiry = seconds + microseconds / 1e6 + LEASE_S
        with connection().pipeline(transaction=False) as pipeline:
            for slot in slots[start : start + _RENEW_BATCH_SIZE]:
                for key in slot.keys:
                    pipeline.zadd(key, {slot.id: expiry})
                    pipeline.expire(key, LEASE_S)
            pipeline.execute()
    _remove([slot for slot in slots if not slot.is_renewed])  # released meanwhile


def _remove(slots: list[Slot]) -> None:
    with connection().pipeline(transaction=False) as pipeline:
        for slot in slots:
            for key in slot.keys:
                pipeline.zrem(key, slot.id)
        pipeline.execute()


def _acquire(slot: Slot) -> int:
    caps = (settings.ARENA_STREAMS["person"], settings.ARENA_STREAMS["network"])
    return int(_script()(keys=slot.keys, args=[slot.id, LEASE_S, *caps]))


@cache
def _script() -> Script:
    return connection().register_script(_ACQUIRE)


@cache
def _start_renewing() -> None:
    threading.Thread(target=_renew_forever, name="stream-slots", daemon=True).start()


def _renew_forever() -> None:
    while True:
        time.sleep(RENEW_INTERVAL_S)
        try:
            renew()
        except UNREACHABLE as error:
            logger.warning("slots of streams are not renewed: Valkey is away (%s)", error)
