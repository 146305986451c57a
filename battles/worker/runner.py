"""One event loop per worker process; its turns share connections, ticks and lease renewal."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import cast

import uvloop
from celery.signals import worker_shutting_down
from django.conf import settings

from battles.calls import slot_queue
from battles.streaming import cancel
from battles.streaming.publisher import Publisher
from battles.worker import turn_queue, turn_store
from battles.worker.model_tests import run_test
from battles.worker.probes import check_repair, probe
from battles.worker.turn import TurnRunner, WorkerContext
from battles.worker.turn_queue import QueuedTurn
from common import logs
from common.db.execution import CONNECTION_ERRORS, run_in_db
from common.rendering.renderer import Renderer
from common.valkey.connections import UNREACHABLE, new_async_connection
from models_registry.providers import ChatProvider
from models_registry.providers.openai_compatible import OpenAICompatible

logger = logging.getLogger(__name__)

RENEWAL_INTERVAL_S = 2.0
# One transaction claims so many turns at most, so that the first of them do not wait for long.
MAX_CLAIMED_TOGETHER = 20
# close() waits this long for claims and cancelled work; turns claimed later keep their lease until it expires.
SHUTDOWN_TIMEOUT_S = 4.0
# They wait for the database; waiting for models takes no thread.
DATABASE_THREADS = 8


class Engine:
    def __init__(self, new_provider: Callable[[], ChatProvider] = OpenAICompatible) -> None:
        self._new_provider = new_provider
        self._loop = uvloop.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="engine"))
        self._answers: set[asyncio.Task[None]] = set()
        self._running: dict[int, tuple[TurnRunner, asyncio.Task[None]]] = {}
        self._background: set[asyncio.Task[None]] = set()
        # close() may run in a signal handler while this thread holds the lock, hence RLock.
        self._closing, self._closing_lock = False, threading.RLock()
        self._thread = threading.Thread(target=self._run_loop, name="engine", daemon=True)
        self._thread.start()
        self._submit(self._open()).result()

    def take_turns(self) -> None:
        """Answer the turns of turn_queue until close()."""
        self._submit(self._start_taking_turns())

    def answer(self, turn_id: int) -> None:
        """Claim and answer a turn; block until it is done."""
        self._run_blocking(self._answer(turn_id))

    def probe(self, breaker_id: int) -> None:
        work = partial(probe, breaker_id, self._context.provider)
        self._run_blocking(self._run_background(work, f"probe of breaker {breaker_id}"))

    def check_repair(self, repair_id: int) -> None:
        work = partial(check_repair, repair_id, self._context.provider)
        self._run_blocking(self._run_background(work, f"check of repair {repair_id}"))

    def test_model(self, test_id: str) -> None:
        work = partial(run_test, test_id, self._context.provider, self._context.publisher, self._valkey)
        self._run_blocking(self._run_background(work, "test of a model"))

    def run(self, work: Callable[[ChatProvider, Callable[[], bool]], Coroutine[object, None, None]], name: str) -> None:
        """Start work(provider, serves_people) on the loop and return; a no-op once closing.

        close() cancels it and waits SHUTDOWN_TIMEOUT_S.
        """
        with self._closing_lock:
            if not self._closing:
                work_future = self._submit(
                    self._run_background(partial(work, self._context.provider, self._serves_people), name)
                )
                work_future.add_done_callback(partial(_log_failure, name))

    def close(self) -> None:
        """Requeue running turns within seconds; stop the loop."""
        with self._closing_lock:
            if self._closing:
                return
            self._closing = True
        self._submit(self._shut_down()).result(timeout=8)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2)

    def _serves_people(self) -> bool:
        return bool(self._running)

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _run_blocking(self, work: Coroutine[object, None, None]) -> None:
        """Run `work` on the loop and block until it finishes; a no-op once closing."""
        with self._closing_lock:
            future = None if self._closing else self._submit(work)
        if future is None:
            work.close()
        else:
            future.result()

    def _submit(self, work: Coroutine[object, None, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> None:
        self._valkey = new_async_connection()
        renderer = Renderer()
        publisher = Publisher(self._valkey, renderer)
        self._context = WorkerContext(self._new_provider(), publisher, renderer)
        self._services = [
            asyncio.create_task(service)
            for service in (self._context.publisher.run(), self._renew_leases(), self._listen())
        ]

    async def _start_taking_turns(self) -> None:
        self._services.append(asyncio.create_task(self._take_turns()))

    async def _take_turns(self) -> None:
        """Claim queued turns in groups: while one is claimed, the next one gathers."""
        reader = turn_queue.new_reader()
        try:
            while not self._closing:
                free = settings.ARENA_ANSWER_CONCURRENCY - len(self._answers)
                if free <= 0:
                    await asyncio.wait(self._answers, return_when=asyncio.FIRST_COMPLETED)
                    continue
                try:
                    queued = await turn_queue.pop(reader, at_most=min(free, MAX_CLAIMED_TOGETHER))
                except UNREACHABLE as error:
                    logger.warning("queued turns wait for Valkey (%s)", error)
                    await asyncio.sleep(0.5)
                    continue
                if queued and not self._closing:
                    await asyncio.shield(self._start_or_log(queued))
        finally:
            await reader.aclose()

    async def _start_or_log(self, queued: Sequence[QueuedTurn]) -> None:
        with _tracked(self._answers):  # close() waits for it
            try:
                await self._start(queued)
            except CONNECTION_ERRORS as error:
                logger.warning("turns stay queued: %s", str(error).strip())
            except Exception:
                logger.exception("turns %s were not claimed", [turn.turn_id for turn in queued])
                if len(queued) > 1:  # one of them may be the cause
                    for turn in queued:
                        await self._start_or_log([turn])

    async def _answer(self, turn_id: int) -> None:
        with _tracked(self._answers):
            await asyncio.gather(*await self._start([QueuedTurn(turn_id)]))

    async def _start(self, queued: Sequence[QueuedTurn]) -> list[asyncio.Task[None]]:
        """Claim turns in one transaction; return the tasks that answer them."""
        started = await run_in_db(turn_store.claim_and_start, [turn.turn_id for turn in queued])
        if self._closing:  # since the claim was requested
            for claimed, _ in started:
                await run_in_db(turn_store.release, claimed)
            return []
        if started:
            self._context.renderer.start()
        request_ids = {turn.turn_id: turn.request_id for turn in queued}
        return [
            self._start_answering(TurnRunner(self._context, claimed, calls), request_ids[claimed.turn_id])
            for claimed, calls in started
        ]

    def _start_answering(self, turn: TurnRunner, request_id: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._run_turn(turn, request_id))
        self._running[turn.claimed.turn_id] = (turn, task)
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)
        return task

    async def _run_turn(self, turn: TurnRunner, request_id: str) -> None:
        if request_id:
            logs.begin_request(request_id)
        try:
            with turn.begin_span():
                await turn.run()
        except asyncio.CancelledError:
            logger.info("turn %s was cancelled in this process", turn.claimed.turn_id)
        except Exception:
            logger.exception("turn %s ended here; its lease will expire", turn.claimed.turn_id)
        finally:
            self._running.pop(turn.claimed.turn_id, None)

    async def _run_background(self, work: Callable[[], Coroutine[object, None, None]], name: str) -> None:
        """Run work without a turn, which close() cancels."""
        with _tracked(self._background):
            try:
                await work()
            except asyncio.CancelledError:
                logger.info("the %s was cancelled in this process", name)

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_INTERVAL_S)
            running = list(self._running.values())
            if not running:
                continue
            try:
                held = await run_in_db(turn_store.renew_leases, [turn.claimed for turn, _ in running])
            except Exception:
                # While the database is away leases may expire; the fencing token then ends the turn with LeaseLost.
                logger.exception("leases were not renewed")
                continue
            for turn, task in running:
                if turn.claimed.turn_id not in held:
                    task.cancel()
                elif held[turn.claimed.turn_id]:
                    turn.stop()

    async def _listen(self) -> None:
        """Stop turns at once; lease renewal also reads stops from rows. Wake calls that wait for slots."""
        while True:
            try:
                async with self._valkey.pubsub() as channel:
                    await channel.subscribe(cancel.CHANNEL, slot_queue.CHANNEL)
                    while True:
                        message = await channel.get_message(ignore_subscribe_messages=True, timeout=4)
                        if message is None:
                            continue
                        if message["channel"] == slot_queue.CHANNEL.encode():
                            self._context.slots.wake(message["data"])
                        elif int(message["data"]) in self._running:
                            self._running[int(message["data"])][0].stop()
            except UNREACHABLE:
                await asyncio.sleep(1)

    async def _shut_down(self) -> None:
        for turn, task in list(self._running.values()):
            task.cancel()
            try:
                await run_in_db(turn_store.release, turn.claimed)
            except Exception:
                logger.exception("turn %s was not released; its lease will expire", turn.claimed.turn_id)
        late: set[asyncio.Task[None]] = set()
        for task in self._background:
            task.cancel()
        if ending := {*self._answers, *self._background}:
            _, late = await asyncio.wait(ending, timeout=SHUTDOWN_TIMEOUT_S)
        await _cancel_and_wait({*self._services, *late})
        await self._context.publisher.flush()
        await self._context.renderer.close()
        await self._context.provider.close()
        await self._valkey.aclose(close_connection_pool=True)


def _log_failure(name: str, done: "Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        logger.error("the %s failed", name, exc_info=error)


@contextmanager
def _tracked(tasks: set[asyncio.Task[None]]) -> Iterator[None]:
    task = cast("asyncio.Task[None]", asyncio.current_task())
    tasks.add(task)
    try:
        yield
    finally:
        tasks.discard(task)


async def _cancel_and_wait(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel until all have ended: before Python 3.12, wait_for() can lose a cancellation."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=0.1)


_engine: Engine | None = None
_engine_lock = threading.Lock()


def get_engine() -> Engine:
    """Return this process's engine, created at first use, as a fork would not copy its thread."""
    global _engine
    with _engine_lock:
        if _engine is None:
            _engine = Engine()
        return _engine


@worker_shutting_down.connect
def close_engine(**_: object) -> None:
    """Requeue running turns at once; a warm shutdown would wait for the models."""
    if _engine is not None:
        _engine.close()
