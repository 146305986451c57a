"""Live progress of runs: published to a Valkey stream, followed without a query. Counts are absolute."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection

import msgspec

from accounts.actor import Actor
from accounts.open_streams import StreamToken, reader_fields
from battles.streaming.protocol import STREAM_TTL_S, TurnEvent, entry
from battles.streaming.reader import StreamExpired, follow
from benchmarks.models import Run, RunCount, RunItem
from common import sse
from common.db.execution import CONNECTION_ERRORS, run_in_db, run_in_db_with_retry
from common.valkey.connections import UNREACHABLE, connection, fail_fast

logger = logging.getLogger(__name__)

INTERVAL_S = 0.25
MAX_ENTRIES = 200
# A page misses nothing between its queries and its stream, also if the clocks differ.
OVERLAP_S = 5.0


class ProgressEvent(msgspec.Struct):
    """spent, reserved: US dollars. entrants: numbers by state, by entrant id. items: [id, state, score, passed]."""

    state: str
    spent: str
    reserved: str
    entrants: dict[int, dict[str, int]]
    items: list[tuple[int, str, float | None, bool | None]]


class RunToken(StreamToken, frozen=True):
    """with_items: whether the events have scores of single items, too."""

    SALT = "benchmarks.streaming"
    TTL_S = STREAM_TTL_S

    run: str
    with_items: bool = False


def token_for(run: Run, actor: Actor, *, with_items: bool = False) -> str:
    """Return a signed token to follow the run; "" once it has ended. with_items: only where answers may be read."""
    if run.state in Run.ENDED:
        return ""
    team = run.team_id if run.team_id in actor.memberships else None
    reader = reader_fields(actor.key if actor.is_known else "", actor.token, team)
    return RunToken(run.public_id, with_items, **reader).signed()


def stream_key(run_public_id: str) -> str:
    return f"run:{run_public_id}"


def position_now() -> str:
    """Return the stream position of a page that is read now."""
    return f"{int((time.time() - OVERLAP_S) * 1000)}-0"


def read_progress(run_id: int, item_ids: Collection[int] = ()) -> tuple[str, ProgressEvent]:
    """Return the run's public id and its progress, in two or three queries."""
    run = Run.objects.only("public_id", "state", "spent", "reserved").get(pk=run_id)
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for entrant_id, state, n in RunCount.objects.filter(entrant__run=run_id).values_list("entrant", "state", "n"):
        counts[entrant_id][state] = n
    items = RunItem.objects.filter(pk__in=item_ids).values_list("pk", "state", "score", "passed") if item_ids else []
    return run.public_id, ProgressEvent(run.state, str(run.spent), str(run.reserved), dict(counts), list(items))


def publish(run_id: int, item_ids: Collection[int] = ()) -> ProgressEvent:
    """Publish the run's progress; without Valkey, pages poll."""
    public_id, progress = read_progress(run_id, item_ids)
    events = [TurnEvent("state", "", msgspec.json.encode(progress).decode())]
    if progress.state in Run.ENDED:
        events.append(TurnEvent("end"))
    try:
        with fail_fast(), connection().pipeline(transaction=False) as pipeline:
            pipeline.xadd(stream_key(public_id), entry(events), maxlen=MAX_ENTRIES, approximate=True)
            pipeline.expire(stream_key(public_id), STREAM_TTL_S)
            pipeline.execute()
    except UNREACHABLE as error:
        logger.info("progress of run %s is not published: %s", public_id, error)
    return progress


class _Pending:
    def __init__(self) -> None:
        self.items: set[int] = set()
        self.task: asyncio.Task[None] | None = None


_pending: dict[int, _Pending] = {}


def publish_soon(run_id: int, item_ids: Collection[int]) -> None:
    """Publish ended items, once in INTERVAL_S. Needs a running event loop."""
    pending = _pending.setdefault(run_id, _Pending())
    pending.items.update(item_ids)
    if pending.task is None or pending.task.done():
        pending.task = asyncio.get_running_loop().create_task(_publish_pending(run_id, pending))


async def _publish_pending(run_id: int, pending: _Pending) -> None:
    while pending.items:
        await asyncio.sleep(INTERVAL_S)
        items, pending.items = pending.items, set()
        try:
            await run_in_db(publish, run_id, items)
        except CONNECTION_ERRORS:
            logger.info("progress of run %s is not published: no database", run_id)
    _pending.pop(run_id, None)


async def publish_rest(run_id: int) -> None:
    """Publish the items that wait, then the run as its driver leaves it."""
    pending = _pending.get(run_id)
    if pending is not None and pending.task is not None:
        await asyncio.wait([pending.task])
    await run_in_db_with_retry(publish, run_id)


def publish_no_more(run_id: int) -> None:
    """Forget items that wait: the driver ends here, and another one publishes the run."""
    pending = _pending.pop(run_id, None)
    if pending is not None and pending.task is not None:
        pending.task.cancel()


def _without_items(progress: str) -> str:
    event = msgspec.json.decode(progress, type=ProgressEvent)
    return msgspec.json.encode(msgspec.structs.replace(event, items=[])).decode()


async def page_events(token: RunToken, after: str) -> AsyncIterator[bytes]:
    """Yield `progress` events with JSON until `end`."""
    yield sse.KEEP_ALIVE
    while True:
        try:
            async for numbered in follow(stream_key(token.run), after=after):
                pieces = []
                for after, event in numbered:
                    name = "end" if event.name == "end" else "progress"
                    value = event.value if token.with_items or name == "end" else _without_items(event.value)
                    pieces.append(sse.event(name, value, id=after))
                yield b"".join(pieces) or sse.KEEP_ALIVE
            return
        except StreamExpired:
            yield sse.KEEP_ALIVE
