"""Heartbeats: long-lived processes renew keys in Valkey, which expire after their end."""

import logging
import threading
import time
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from common.valkey.connections import UNREACHABLE, connection

INTERVAL_S, TTL_S = 2, 10
EXPECTED = ("worker-answers", "worker-default", "beat", "sweeper")

logger = logging.getLogger(__name__)


def start(name: str) -> None:
    """Send heartbeats from a background thread until the process ends."""
    threading.Thread(target=_beat, args=(name,), name="heartbeat", daemon=True).start()


def missing() -> list[str]:
    beats = connection().mget([_key(name) for name in EXPECTED])
    return [name for name, beat in zip(EXPECTED, beats, strict=True) if beat is None]


def clear() -> None:
    """Delete all heartbeats at a start: those of an earlier run count for up to TTL_S."""
    connection().delete(*(_key(name) for name in EXPECTED))


def _key(name: str) -> str:
    return f"heartbeat:{name}"


def _touch_file() -> None:
    """Update the file's time, which a container's health check reads."""
    if settings.ARENA_HEARTBEAT_FILE:
        with suppress(OSError):
            Path(settings.ARENA_HEARTBEAT_FILE).touch()


def _beat(name: str) -> None:
    was_sent = True
    while True:
        try:
            connection().set(_key(name), "alive", ex=TTL_S)
            was_sent = True
            _touch_file()
        except UNREACHABLE as error:
            if was_sent:
                logger.warning("heartbeat of %s was not sent: Valkey is away (%s)", name, error)
            was_sent = False
        time.sleep(INTERVAL_S)
