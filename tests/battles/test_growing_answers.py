"""What a worker publishes of growing answers: text at once, HTML when it is there."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from battles.streaming import publisher as module
from battles.streaming.publisher import Publisher, TurnChannel
from common.rendering.renderer import Renderer
from common.valkey.connections import connection, new_async_connection

CODE = "```python\nx = 1\n```\n\n"
Events = list[tuple[str, str]]


def run(work: Callable[[TurnChannel, Renderer], Awaitable[None]]) -> None:
    async def with_channel() -> None:
        renderer = Renderer()
        unused: Any = None
        try:
            await work(TurnChannel(Publisher(unused, renderer), "turn", ["left"], equal_pace=False), renderer)
        finally:
            await renderer.close()

    asyncio.run(with_channel())


def taken(channel: TurnChannel) -> Events:
    return [(event.name, event.value) for event in channel.take_events()]


async def rendered(channel: TurnChannel) -> None:
    rendering = channel._sides["left"].rendering
    assert rendering is not None
    await rendering


def test_short_block_is_published_as_html_at_once():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "one\n\ntwo\n")
        assert taken(channel) == [("state", "streaming"), ("block", "<p>one</p>\n"), ("text", "two\n")]

    run(work)


def test_slow_block_is_sent_as_text_and_replaced_later():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{CODE}two\n")
        assert taken(channel) == [("state", "streaming"), ("text", f"{CODE}two\n")]
        channel.add("left", "three\n")
        assert taken(channel) == [("text", "three\n")]
        await rendered(channel)
        channel.add("left", "four")
        (block, html), still_open = taken(channel)
        assert (block, 'class="mi"' in html) == ("block", True)
        assert still_open == ("text", "two\nthree\nfour")
        assert taken(channel) == []

    run(work)


def test_blocks_finished_meanwhile_are_rendered_together():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{CODE}two\n\n")
        channel.add("left", "three\n\nfour\n")
        taken(channel)
        await rendered(channel)
        channel.add("left", "\nfive\n")
        (_, first), (_, second), still_open = taken(channel)
        assert "<span" in first
        assert "<p>four</p>" in first + second
        assert still_open == ("text", "five\n")

    run(work)


def test_blocks_without_html_leave_no_text_behind():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{'[a]: https://a.example ' + 'a' * 600}\n\ntwo\n")
        taken(channel)
        await rendered(channel)
        assert [name for name, _ in taken(channel)] == ["block", "text"]

    run(work)


def test_turn_over_its_budget_is_shown_as_text(monkeypatch):
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.spending.cpu_s = module.MAX_CPU_S_PER_TURN
        channel.add("left", "one\n\ntwo\n")
        assert taken(channel) == [("state", "streaming"), ("text", "one\n\ntwo\n")]

    run(work)


def test_long_piece_is_published_over_several_ticks():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        most = module.MAX_CHARACTERS_PER_TICK
        channel.add("left", "a" * (2 * most + 1))
        channel.side_is_over("left", "done")
        channel.end()
        lengths = [[(name, len(value)) for name, value in taken(channel)] for _ in range(3)]
        assert lengths == [
            [("text", most)],
            [("text", most)],
            [("text", 1), ("state", 4), ("end", 0)],
        ]

    run(work)


def test_flush_publishes_long_text_to_its_end():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        valkey = new_async_connection()
        publisher = Publisher(valkey, renderer)
        finished = TurnChannel(publisher, "flushed", ["left"], equal_pace=False)
        finished.add("left", "a" * (2 * module.MAX_CHARACTERS_PER_TICK + 1))
        finished.side_is_over("left", "done")
        finished.end()
        await publisher.flush()
        await valkey.aclose(close_connection_pool=True)

    run(work)
    entries = [json.loads(fields["e"]) for _, fields in connection().xrange("flushed")]
    names = [[name for name, _, _ in events] for events in entries]
    assert names == [["text"], ["text"], ["text", "state", "end"]]


def test_nothing_is_published_after_the_end():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        channel.add("left", f"{CODE}two\n")
        taken(channel)
        channel.side_is_over("left", "done")
        channel.end()
        channel._publisher._gather()
        [(_, events)] = channel._publisher._unwritten
        assert [event.name for event in events] == ["state", "end"]
        await renderer.render(CODE, channel.spending)
        assert (channel._publisher._news, taken(channel)) == ({}, [])

    run(work)


def test_defect_of_one_turn_does_not_silence_others():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        broken = TurnChannel(channel._publisher, "broken", ["left"], equal_pace=False)
        for one in (broken, channel):
            one.add("left", "one")
        broken._sides["left"].markdown = None  # type: ignore[assignment]
        channel._publisher._gather()
        assert [one for one, _ in channel._publisher._unwritten] == [channel]

    run(work)
