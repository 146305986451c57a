import logging

from battles.models import Turn
from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

CHANNEL = "turns-to-stop"


def publish_cancel(turn: Turn) -> None:
    """Tell workers of a stop. Best effort: lease renewals also read it from the row."""
    try:
        with fail_fast():
            connection().publish(CHANNEL, str(turn.pk))
    except UNREACHABLE as error:
        logger.warning("the stop of turn %s waits for the lease renewal (%s)", turn.pk, error)
