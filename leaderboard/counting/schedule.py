"""Time slots, each with one run. Young boards get early runs besides."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection

from common.ids import new_public_id

# Counted votes of a board at which a run starts without waiting for its slot.
EARLY_RUNS_AT = (1, 10, 30, 100)
# Beat looks for early runs this often.
EARLY_RUN_DELAY_S = 15


def database_now() -> datetime:
    # Slots follow the database's clock, so that workers on several machines agree.
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def slot_at(moment: datetime) -> str:
    return f"every {settings.ARENA_AGGREGATE_EVERY_S} s: {_start_of_slot(moment):%Y-%m-%dT%H:%M:%SZ}"


def new_slot() -> str:
    """Return a unique slot: a repeated task does not run again."""
    return f"asked: {new_public_id()}"


def next_early_run(votes: int) -> int | None:
    """Return the number of votes of the next early run."""
    return next((number for number in EARLY_RUNS_AT if number > votes), None)


def is_early_run_due(counted: int, new: int) -> bool:
    number = next_early_run(counted)
    return number is not None and counted + new >= number


def next_due_at(moment: datetime) -> datetime:
    return _start_of_slot(moment) + timedelta(seconds=settings.ARENA_AGGREGATE_EVERY_S)


def _start_of_slot(moment: datetime) -> datetime:
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % settings.ARENA_AGGREGATE_EVERY_S, UTC)
