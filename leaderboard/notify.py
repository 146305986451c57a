import logging

from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

CHANNEL = "leaderboard:snapshots"


def notify_new_snapshot(scope: str) -> None:
    """Notify leaderboard.live_updates; call after COMMIT. Best effort: web processes also poll every minute."""
    try:
        with fail_fast():
            connection().publish(CHANNEL, scope)
    except UNREACHABLE as error:
        logger.warning("a snapshot of %s was not announced (%s)", scope, error)
