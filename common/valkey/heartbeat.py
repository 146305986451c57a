"""Who is alive: every long-lived process keeps a key in Valkey that fades when it stops."""

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
    """Say that `name` lives for as long as this process does."""
    threading.Thread(target=_beat, args=(name,), name="heartbeat", daemon=True).start()


def missing() -> list[str]:
    """Those of EXPECTED that are not heard. Raises one of common.valkey.connections.UNREACHABLE."""
    heard = connection().mget([_key(name) for name in EXPECTED])
    return [name for name, beat in zip(EXPECTED, heard, strict=True) if beat is None]


def clear() -> None:
    """Before a start: what is heard afterwards is alive, not a memory of an earlier run."""
    connection().delete(*(_key(name) for name in EXPECTED))


def _key(name: str) -> str:
    return f"heartbeat:{name}"


def _touch_file() -> None:
    """For the health check of a container, which looks at the file's age."""
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
                logger.warning("heartbeat of %s is not heard: Valkey is away (%s)", name, error)
            was_sent = False
        time.sleep(INTERVAL_S)
