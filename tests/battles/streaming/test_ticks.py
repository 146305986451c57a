import asyncio
from typing import Any, cast

import pytest

import battles.streaming.publisher as publisher_module
from battles.streaming.publisher import (
    MAX_TICK_S,
    READ_BEFORE_TICK_S,
    TICK_PER_TURN_S,
    TICK_S,
    Publisher,
    TurnChannel,
)
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
        self.keys: list[str] = []

    def pipeline(self, *, transaction: bool) -> "Pipeline":
        return self

    async def __aenter__(self) -> "Pipeline":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def xadd(self, key: str, _entry: Any) -> None:
        self.keys.append(key)

    def expire(self, *_: Any) -> None:
        pass

    async def execute(self) -> None:
        if self.pause_s:
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


async def first_texts_written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the keys of two turns in the order in which their first texts are written, an hour before a tick."""
    monkeypatch.setattr(publisher_module, "TICK_S", 3600.0)
    monkeypatch.setattr(publisher_module, "MAX_TICK_S", 3600.0)
    valkey = Pipeline(0.0)
    publisher = Publisher(cast(Any, valkey), Renderer())
    running = asyncio.create_task(publisher.run())
    for key in ("one", "two"):
        channel = TurnChannel(publisher, key, ["left", "right"])
        channel.add("left", "text")
        channel.add("right", "text")
        await valkey.written.wait()
        valkey.written.clear()
        channel.add("left", "later text")
    running.cancel()
    return valkey.keys


def test_first_text_does_not_wait_for_a_tick(monkeypatch: pytest.MonkeyPatch):
    assert asyncio.run(first_texts_written(monkeypatch)) == ["one", "two"]


def test_streams_are_read_together_before_a_tick():
    async def waits() -> list[float]:
        loop = cast(Loop, asyncio.get_running_loop())
        publisher = Publisher(cast(Any, Pipeline(0.0)), Renderer())
        publisher._next_tick_at = 1.0
        seconds = []
        for loop.now in (1.0 - TICK_S, 1.0 - READ_BEFORE_TICK_S / 2, 2.0):
            seconds.append(publisher.seconds_to_next_read())
        return seconds

    with asyncio.Runner(loop_factory=Loop) as runner:
        early, missed, late = runner.run(waits())
    assert early == pytest.approx(TICK_S - READ_BEFORE_TICK_S)
    assert missed == pytest.approx(TICK_S - READ_BEFORE_TICK_S / 2)
    assert late == TICK_S / 2
