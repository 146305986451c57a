"""Lateness of the event loop, which people's streams share with runs."""

import asyncio
from collections import deque

INTERVAL_S = 0.02
WINDOW = 50  # one second
MAX_P95_S = 0.02


class LoopLag:
    def __init__(self) -> None:
        self._lags: deque[float] = deque(maxlen=WINDOW)

    async def measure(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + INTERVAL_S
            await asyncio.sleep(INTERVAL_S)
            self._lags.append(loop.time() - due)

    @property
    def is_high(self) -> bool:
        """Return whether the 95th percentile of the last second is above MAX_P95_S."""
        lags = sorted(self._lags)
        return bool(lags) and lags[int(0.95 * (len(lags) - 1))] > MAX_P95_S
