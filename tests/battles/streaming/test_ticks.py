import asyncio
from typing import Any, cast

from battles.streaming.publisher import MAX_TICK_S, TICK_PER_TURN_S, TICK_S, Publisher, TurnChannel
from common.rendering.renderer import Renderer


class Loop(asyncio.SelectorEventLoop):
    """Loop whose time passes only while Valkey writes."""

    now = 0.0

    def time(self) -> float:
        return self.now


class Pipeline:
    """Stand-in for Valkey and its pipeline; a write takes `pause_s`."""

    def __init__(self, pause_s: float) -> None:
        self.pause_s = pause_s
        self.written = asyncio.Event()

    def pipeline(self, *, transaction: bool) -> "Pipeline":
        return self

    async def __aenter__(self) -> "Pipeline":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def xadd(self, *_: Any) -> None:
        pass

    def expire(self, *_: Any) -> None:
        pass

    async def execute(self) -> None:
        cast(Loop, asyncio.get_running_loop()).now += self.pause_s
        self.written.set()


async def tick_after_writing_in(pause_s: float) -> float:
    valkey: Any = Pipeline(pause_s)
    publisher = Publisher(valkey, Renderer())
    channel = TurnChannel(publisher, "turn", ["left"], equal_pace=False)
    running = asyncio.create_task(publisher.run())
    channel.add("left", "one")
    await valkey.written.wait()
    await asyncio.sleep(0)  # until the publisher sleeps
    running.cancel()
    return publisher.tick_s


def tick_after(pause_s: float) -> float:
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(tick_after_writing_in(pause_s))


def test_slow_writes_prolong_tick_up_to_maximum():
    assert tick_after(0.2) == MAX_TICK_S
    assert TICK_S < tick_after(0.02) < MAX_TICK_S
    assert tick_after(0.0) == TICK_S + TICK_PER_TURN_S
