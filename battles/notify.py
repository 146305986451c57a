import logging

from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

VOTES_CHANNEL = "battles:votes"


def notify_vote() -> None:
    """Notify open boards; call after COMMIT. Best effort."""
    try:
        with fail_fast():
            connection().publish(VOTES_CHANNEL, "")
    except UNREACHABLE as error:
        logger.info("a vote was not announced to open boards (%s)", error)
