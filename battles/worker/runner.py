"""One event loop per worker process: all turns of the process run on it and share connections, ticks and leases."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import cast

import uvloop
from celery.signals import worker_shutting_down

from battles.streaming.cancel import CHANNEL
from battles.streaming.publisher import Publisher
from battles.worker import turn_store as records
from battles.worker.call_store import PreparedCall
from battles.worker.model_tests import run_test
from battles.worker.probes import probe
from battles.worker.turn import TurnAnswering, Worker
from common.db.execution import in_database
from common.rendering.renderer import Renderer
from common.valkey.connections import UNREACHABLE, new_async_connection
from models_registry.providers import ChatProvider
from models_registry.providers.openai_compatible import OpenAICompatible

logger = logging.getLogger(__name__)

RENEW_EVERY_S = 2.0
# What a closing process was just taking up is waited for; its lease may run out otherwise.
TAKEN_UP_WITHIN_S = 4.0
# Waiting for the database; models are waited for without threads.
THREADS = 8


class Engine:
    def __init__(self, new_provider: Callable[[], ChatProvider] = OpenAICompatible) -> None:
        self._new_provider = new_provider
        self._loop = uvloop.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="engine"))
        self._answers: set[asyncio.Task[None]] = set()
        self._running: dict[int, tuple[TurnAnswering, asyncio.Task[None]]] = {}
        self._asides: set[asyncio.Task[None]] = set()
        # The end is told by a signal, which may interrupt whoever is at the gate.
        self._closing, self._gate = False, threading.RLock()
        self._thread = threading.Thread(target=self._run_loop, name="engine", daemon=True)
        self._thread.start()
        self._submit(self._open()).result()

    def answer(self, turn_id: int) -> None:
        """Claim and answer a turn; returns when it is done. Finds nothing to do when it is not ours to answer."""
        self._do(self._answer(turn_id))

    def probe(self, breaker_id: int) -> None:
        """Ask a model that was taken out of the draw whether it answers again; returns when that is known."""
        asked = partial(probe, breaker_id, self._worker.provider)
        self._do(self._aside(asked, f"probe of breaker {breaker_id}"))

    def test_model(self, test_id: str) -> None:
        """Have a model answer an administrator; returns when it has."""
        asked = partial(run_test, test_id, self._worker.provider, self._worker.publisher, self._valkey)
        self._do(self._aside(asked, "test of a model"))

    def close(self) -> None:
        """Hand back what is running, within seconds, and stop the loop."""
        with self._gate:
            if self._closing:
                return
            self._closing = True
        self._submit(self._hand_back_all()).result(timeout=8)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=2)

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _do(self, work: Coroutine[object, None, None]) -> None:
        """Until it is done. What is asked for before the end is known to it; after it, nothing begins."""
        with self._gate:
            begun = None if self._closing else self._submit(work)
        if begun is None:
            work.close()
        else:
            begun.result()

    def _submit(self, work: Coroutine[object, None, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self) -> None:
        self._valkey = new_async_connection()
        renderer = Renderer()
        self._worker = Worker(self._new_provider(), Publisher(self._valkey, renderer), renderer)
        self._services = [
            asyncio.create_task(service)
            for service in (self._worker.publisher.run(), self._renew_leases(), self._listen_for_stops())
        ]

    async def _answer(self, turn_id: int) -> None:
        with _one_of(self._answers):
            try:
                if taken := await in_database(records.take_up, turn_id):
                    await self._run(*taken)
            except asyncio.CancelledError:
                logger.info("turn %s was given up by this process", turn_id)

    async def _run(self, claimed: records.ClaimedTurn, calls: list[PreparedCall] | None) -> None:
        if self._closing:  # since it was taken up
            return await in_database(records.hand_back, claimed)
        self._worker.renderer.start()
        turn = TurnAnswering(self._worker, claimed, calls)
        task = asyncio.create_task(turn.run())
        self._running[claimed.turn_id] = (turn, task)
        try:
            await task
        finally:
            self._running.pop(claimed.turn_id, None)

    async def _aside(self, work: Callable[[], Coroutine[object, None, None]], name: str) -> None:
        """A call that no turn waits for; given up when the process ends."""
        with _one_of(self._asides):
            try:
                await work()
            except asyncio.CancelledError:
                logger.info("the %s was given up by this process", name)

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(RENEW_EVERY_S)
            held = [(turn.claimed, turn, task) for turn, task in self._running.values()]
            if not held:
                continue
            try:
                kept = await in_database(records.renew_leases, [claimed for claimed, *_ in held])
            except Exception:
                # The database is away: the leases run on, and whoever loses one is told by its fence.
                logger.exception("leases were not renewed")
                continue
            for claimed, turn, task in held:
                if claimed.turn_id not in kept:
                    task.cancel()
                elif kept[claimed.turn_id]:
                    turn.stop()

    async def _listen_for_stops(self) -> None:
        """A stop is also in the row, where the next renewal finds it; this only makes it quick."""
        while True:
            try:
                async with self._valkey.pubsub() as stops:
                    await stops.subscribe(CHANNEL)
                    while True:
                        message = await stops.get_message(ignore_subscribe_messages=True, timeout=4)
                        if message is not None and int(message["data"]) in self._running:
                            self._running[int(message["data"])][0].stop()
            except UNREACHABLE:
                await asyncio.sleep(1)

    async def _hand_back_all(self) -> None:
        for turn, task in list(self._running.values()):
            task.cancel()
            try:
                await in_database(records.hand_back, turn.claimed)
            except Exception:
                logger.exception("turn %s was not handed back; its lease will run out", turn.claimed.turn_id)
        late: set[asyncio.Task[None]] = set()
        if self._answers:
            _, late = await asyncio.wait({*self._answers}, timeout=TAKEN_UP_WITHIN_S)
        await _end({*self._services, *self._asides, *late})
        await self._worker.publisher.flush()
        await self._worker.renderer.close()
        await self._worker.provider.close()
        await self._valkey.aclose(close_connection_pool=True)


@contextmanager
def _one_of(tasks: set[asyncio.Task[None]]) -> Iterator[None]:
    """For as long as it lasts, what is running is one of the tasks."""
    running = cast("asyncio.Task[None]", asyncio.current_task())
    tasks.add(running)
    try:
        yield
    finally:
        tasks.discard(running)


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    """Until they have ended: before Python 3.12, wait_for loses a cancellation that meets its result."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=0.1)


_engine: Engine | None = None
_engine_lock = threading.Lock()


def engine() -> Engine:
    """This process's engine; made by the first turn, after the worker has forked or started its threads."""
    global _engine
    with _engine_lock:
        if _engine is None:
            _engine = Engine()
        return _engine


@worker_shutting_down.connect
def close_engine(**_: object) -> None:
    """A warm shutdown would wait for the models: hand everything back instead."""
    if _engine is not None:
        _engine.close()
