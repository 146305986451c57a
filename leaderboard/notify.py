"""A new snapshot, told to the web processes; what they do with it is in leaderboard.live_updates."""

import logging

from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

CHANNEL = "leaderboard:snapshots"


def announce_snapshot(scope: str) -> None:
    """To be called once the snapshot is committed. Best effort: whoever misses it looks again within a minute."""
    try:
        with fail_fast():
            connection().publish(CHANNEL, scope)
    except UNREACHABLE as error:
        logger.warning("a snapshot of %s was not announced (%s)", scope, error)
