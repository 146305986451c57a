"""`manage.py sweep`: the loop that finds work nobody does any more. It needs no broker."""

import logging
import signal
import threading
from itertools import count

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connections

from battles.sweep import sweep as sweep_battles
from common.valkey import heartbeat
from common.valkey.connections import UNREACHABLE
from models_registry.health.reachability import probe_keyless_providers
from uploads.sweep import sweep as sweep_uploads

EVERY_S = 2
# Rounds between two questions to providers without a key: does your server answer?
PROBE_EVERY = 8
logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Requeue abandoned turns and files every two seconds and see which servers answer, until SIGTERM."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: object, **options: object) -> None:
        if options["once"]:
            sweep()
            return
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        heartbeat.start("sweeper")
        all_was_well = True
        for round_number in count():  # the first at once: after a crash there may be turns that wait
            all_was_well = one_round(all_was_well, probes=round_number % PROBE_EVERY == 0)
            if stopped.wait(EVERY_S):
                return


def sweep() -> None:
    sweep_battles()
    sweep_uploads()


def one_round(all_was_well: bool, *, probes: bool) -> bool:
    """Whether it went well; one line when that changes for the worse."""
    try:
        sweep()
        if probes:
            probe_keyless_providers()
    except (DatabaseError, *UNREACHABLE) as error:
        if all_was_well:
            logger.warning("nothing is swept: a service is away (%s)", error)
        return False
    except Exception:  # one bad row must not end the loop that saves all others
        logger.exception("a round of sweeping failed")
        return False
    finally:
        connections.close_all()  # back to the pool; a broken one is not used again
    return True
