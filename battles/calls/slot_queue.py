"""Calls of this process that wait for a slot; messages of all workers wake them when a call has ended."""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from weakref import WeakKeyDictionary

from django.db import transaction

from battles.calls.slots import is_limited
from common.valkey.connections import UNREACHABLE, connection, fail_fast, new_async_connection
from models_registry.models import LanguageModel

logger = logging.getLogger(__name__)

CHANNEL = "freed-slots"
# Seconds until a subscription without a waiting call ends.
TICK_S = 1.0


def announce_freed(models: Iterable[LanguageModel]) -> None:
    """On commit, wake a waiting call for each ended one. Best effort: waiting calls also look by themselves."""
    freed = Counter(model.provider_id for model in models if is_limited(model))
    if freed:
        transaction.on_commit(partial(_publish, freed))


def _publish(freed: Counter[int]) -> None:
    try:
        with fail_fast():
            for provider_id, slots in freed.items():
                connection().publish(CHANNEL, f"{provider_id} {slots}")
    except UNREACHABLE as error:
        logger.warning("freed slots were not announced (%s)", error)


class SlotQueue:
    """Waiting calls by provider id, the first to come first."""

    def __init__(self) -> None:
        self._waiting: dict[int, list[asyncio.Event]] = defaultdict(list)

    @contextmanager
    def join(self, provider_id: int) -> Iterator[asyncio.Event]:
        """Yield an event that is set when a slot may be free."""
        woken = asyncio.Event()
        self._waiting[provider_id].append(woken)
        try:
            yield woken
        finally:
            self._waiting[provider_id].remove(woken)

    def wake(self, message: bytes) -> None:
        """Wake as many calls as a message of announce_freed has slots."""
        provider_id, slots = map(int, message.split())
        waiting = [woken for woken in self._waiting[provider_id] if not woken.is_set()]
        for woken in waiting[:slots]:
            woken.set()


class SubscribedSlotQueue(SlotQueue):
    """Slot queue of a process without a worker's engine: it subscribes to freed slots while calls wait."""

    def __init__(self) -> None:
        super().__init__()
        self._valkey = new_async_connection()
        self._subscription: asyncio.Task[None] | None = None

    @contextmanager
    def join(self, provider_id: int) -> Iterator[asyncio.Event]:
        with super().join(provider_id) as woken:
            if self._subscription is None or self._subscription.done():
                self._subscription = asyncio.create_task(self._wake_on_messages())
            yield woken

    async def _wake_on_messages(self) -> None:
        while any(self._waiting.values()):
            try:
                async with self._valkey.pubsub(ignore_subscribe_messages=True) as messages:
                    await messages.subscribe(CHANNEL)
                    while any(self._waiting.values()):
                        if message := await messages.get_message(timeout=TICK_S):
                            self.wake(message["data"])
            except UNREACHABLE as error:
                logger.warning("waiting calls look for slots by themselves: Valkey is away (%s)", error)
                await asyncio.sleep(TICK_S)


_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, SubscribedSlotQueue] = WeakKeyDictionary()


def subscribed_slot_queue() -> SubscribedSlotQueue:
    """Return the queue of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _queues:
        _queues[loop] = SubscribedSlotQueue()
    return _queues[loop]
