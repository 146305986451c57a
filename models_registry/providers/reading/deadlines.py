"""Deadlines of a call: of its first piece, of each later one, and of all."""

import asyncio
import math
from collections.abc import Mapping

from models_registry.providers.base import FailureCode


class Deadlines:
    """code: of the failure when the current deadline passes. timeout: of the call, set by its caller."""

    timeout: asyncio.Timeout

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self.code = FailureCode.FIRST_TIMEOUT
        self._idle_s = seconds["idle"]
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._first_at, self._total_at = now + seconds["first"], now + seconds["total"]
        self._at = self._total_at
        self._timer: asyncio.TimerHandle | None = None

    @property
    def seconds_left(self) -> float:
        return self._at - self._loop.time()

    def set(self, code: FailureCode, *, at_most: float = math.inf) -> None:
        """Set the first deadline or, from now on, the idle one; the total deadline stays."""
        is_first = code is FailureCode.FIRST_TIMEOUT
        at = self._first_at if is_first else self._loop.time() + min(self._idle_s, at_most)
        self.code = code if at < self._total_at else FailureCode.TOTAL_TIMEOUT
        self._at = min(at, self._total_at)
        if self._timer is None or self._at < self._timer.when():
            self._start_timer()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_timer(self) -> None:
        # The only timer: one for each piece of text would take a tenth of a stream's CPU.
        self.stop()
        self._timer = self._loop.call_at(self._at, self._check)

    def _check(self) -> None:
        if self._loop.time() < self._at:
            self._start_timer()
        else:
            self.timeout.reschedule(self._at)
