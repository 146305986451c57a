"""`manage.py sweep`: requeue turns, items and uploads whose lease expired (polling loop). It needs no broker."""

import logging
import signal
import threading
from itertools import count

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connections

from battles.sweep import sweep as sweep_battles
from battles.sweep import wake_due_questions
from benchmarks.sweep import sweep as sweep_benchmarks
from common.valkey import counters, heartbeat
from common.valkey.connections import UNREACHABLE
from models_registry.health.reachability import probe_keyless_providers
from reviews.sweep import sweep as sweep_reviews
from uploads.sweep import sweep as sweep_uploads

INTERVAL_S = 2
# Providers without a key are probed once in so many rounds.
ROUNDS_PER_PROBE = 8
logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Requeue abandoned turns and files every two seconds and probe providers without a key, until SIGTERM."
    requires_system_checks = []  # they import pages, which take half a second and memory; `prepare` has run them

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: object, **options: object) -> None:
        if options["once"]:
            sweep()
            return
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        counters.start("sweeper")
        heartbeat.start("sweeper")
        succeeded = True
        for round_number in count():  # the first at once: after a crash turns may be waiting
            succeeded = sweep_safely(succeeded, with_probes=round_number % ROUNDS_PER_PROBE == 0)
            if stopped.wait(INTERVAL_S):
                return


def sweep() -> None:
    sweep_battles()
    wake_due_questions()
    sweep_uploads()
    sweep_benchmarks()
    sweep_reviews()


def sweep_safely(succeeded_before: bool, *, with_probes: bool) -> bool:
    """Run one round; return whether it succeeded. An outage is logged once, when it begins."""
    try:
        sweep()
        if with_probes:
            probe_keyless_providers()
    except (DatabaseError, *UNREACHABLE) as error:
        if succeeded_before:
            logger.warning("sweep failed: a service is unreachable (%s)", error)
        return False
    except Exception:  # one bad row must not end the loop that requeues all others
        logger.exception("sweep failed")
        return False
    finally:
        connections.close_all()  # returns them to the pool, which discards broken ones
    return True
