import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from battles.streaming import publisher as publisher_module
from battles.streaming.formats import api_events, page_events
from battles.streaming.protocol import BEGINNING, Format, TurnEvent, TurnToken, entry, stream_key
from battles.streaming.publisher import Publisher, TurnChannel
from battles.streaming.side_text import MAX_CHARACTERS_PER_TICK
from common.rendering.renderer import Renderer
from common.text.markdown import TIP
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


def take(channel: TurnChannel) -> Events:
    return [(event.name, event.value) for event in channel.take_events()]


async def wait_until_rendered(channel: TurnChannel) -> None:
    rendering = channel._sides["left"].rendering
    assert rendering is not None
    await rendering


def test_short_block_is_published_as_html_at_once():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "one\n\ntwo\n")
        assert take(channel) == [("state", "streaming"), ("block", "<p>one</p>\n"), ("text", "two\n")]

    run(work)


@pytest.mark.slow
def test_slow_block_is_sent_as_text_and_replaced_later():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{CODE}two\n")
        assert take(channel) == [("state", "streaming"), ("text", f"{CODE}two\n")]
        channel.add("left", "three\n")
        assert take(channel) == [("text", "three\n")]
        await wait_until_rendered(channel)
        channel.add("left", "four")
        (block, html), still_open = take(channel)
        assert (block, 'class="mi"' in html) == ("block", True)
        assert still_open == ("text", "two\nthree\nfour")
        assert take(channel) == []

    run(work)


def test_blocks_finished_meanwhile_are_rendered_together():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{CODE}two\n\n")
        channel.add("left", "three\n\nfour\n")
        take(channel)
        await wait_until_rendered(channel)
        channel.add("left", "\nfive\n")
        (_, first), (_, second), still_open = take(channel)
        assert "<span" in first
        assert "<p>four</p>" in first + second
        assert still_open == ("text", "five\n")

    run(work)


def test_block_without_html_replaces_its_text():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f"{'[a]: https://a.example ' + 'a' * 600}\n\ntwo\n")
        take(channel)
        await wait_until_rendered(channel)
        assert [name for name, _ in take(channel)] == ["block", "text"]

    run(work)


def test_turn_over_rendering_budget_is_sent_as_text(monkeypatch):
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.rendering_cost.cpu_s = publisher_module.MAX_CPU_S_PER_TURN
        channel.add("left", "one\n\ntwo\n")
        assert take(channel) == [("state", "streaming"), ("text", "one\n\ntwo\n")]

    run(work)


def test_long_piece_is_published_over_several_ticks():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        maximum = MAX_CHARACTERS_PER_TICK
        channel.add("left", "a" * (2 * maximum + 1))
        channel.finish_side("left", "done")
        channel.end()
        lengths = [[(name, len(value)) for name, value in take(channel)] for _ in range(3)]
        assert lengths == [
            [("text", maximum)],
            [("text", maximum)],
            [("text", 1), ("state", 4), ("end", 0)],
        ]

    run(work)


def test_flush_publishes_long_text_to_its_end():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        valkey = new_async_connection()
        publisher = Publisher(valkey, renderer)
        finished = TurnChannel(publisher, "flushed", ["left"], equal_pace=False)
        finished.add("left", "a" * (2 * MAX_CHARACTERS_PER_TICK + 1))
        finished.finish_side("left", "done")
        finished.end()
        await publisher.flush()
        await valkey.aclose(close_connection_pool=True)

    run(work)
    entries = [json.loads(fields["e"]) for _, fields in connection().xrange("flushed")]
    names = [[name for name, _, _ in events] for events in entries]
    assert names == [["text"], ["text"], ["text", "state", "end"]]


def test_open_block_is_sent_in_its_form_and_grows_inside_it():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "one\n- tw")
        form = '<ul>\n<li><span class="tip">tw</span></li>\n</ul>\n'
        assert take(channel)[1:] == [("block", "<p>one</p>\n"), ("text", "- tw"), ("form", form)]
        channel.add("left", "o")
        assert take(channel) == [("text", "o")]
        channel.add("left", " **three**.")
        form = '<ul>\n<li>two <strong>three</strong>.<span class="tip"></span></li>\n</ul>\n'
        assert take(channel) == [("text", " **three**."), ("form", form)]

    run(work)


def test_models_own_character_of_the_tip_is_no_place():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", f'> [{TIP}](http://a.example "{TIP}")\n>\n> [b]: http://b.example/**b**.')
        assert [name for name, _ in take(channel)] == ["state", "text"]

    run(work)


def test_open_code_is_formed_by_the_child():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "```python\nx =")
        assert [name for name, _ in take(channel)] == ["state", "text"]
        forming = channel._sides["left"].forming
        assert forming is not None
        await forming[1]
        channel.add("left", " <1>")
        text, (name, form) = take(channel)
        assert (text, name) == (("text", " <1>"), "form")
        assert '<code><span class="tip">x = &lt;1&gt;</span>' in form

    run(work)


def test_form_of_a_block_completed_meanwhile_is_not_sent():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "```python\nx =")
        take(channel)
        forming = channel._sides["left"].forming
        assert forming is not None
        await forming[1]
        channel.add("left", " 1\n```\n\nend")
        assert [name for name, _ in take(channel)] == ["text"]
        await wait_until_rendered(channel)
        assert [name for name, _ in take(channel)] == ["block", "text"]

    run(work)


def test_forms_of_a_long_table_stay_within_their_budget():
    async def work(channel: TurnChannel, _: Renderer) -> None:
        channel.add("left", "| a | b |\n|---|---|\n")
        events = take(channel)
        for number in range(100):
            channel.add("left", f"| {number} | b |\n")
            events += take(channel)
            if (forming := channel._sides["left"].forming) is not None:
                await forming[1]
        forms = [value for name, value in events if name == "form"]
        assert 3 < len(forms) < 15
        assert sum(map(len, forms)) < 10_000

    run(work)


def test_complete_side_is_sent_as_html_while_the_other_grows():
    async def work(_: TurnChannel, renderer: Renderer) -> None:
        unused: Any = None
        channel = TurnChannel(Publisher(unused, renderer), "turn", ["left", "right"])
        channel.add("left", "- one\n- two")
        channel.add("right", "one")
        take(channel)
        channel.finish_side("left", "done", "<ul>…</ul>")
        assert take(channel) == [("whole", "<ul>…</ul>"), ("state", "done")]
        channel.finish_side("right", "done", "<p>one</p>")
        channel.end()
        assert take(channel) == [("state", "done"), ("end", "")]

    run(work)


def test_nothing_is_published_after_the_end():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        channel.add("left", f"{CODE}two\n")
        take(channel)
        channel.finish_side("left", "done")
        channel.end()
        channel._publisher._collect([channel])
        [(_, events)] = channel._publisher._unwritten
        assert [event.name for event in events] == ["state", "end"]
        await renderer.render(CODE, channel.rendering_cost)
        assert (channel._publisher._scheduled, take(channel)) == ({}, [])

    run(work)


def test_error_of_one_turn_does_not_stop_others():
    async def work(channel: TurnChannel, renderer: Renderer) -> None:
        broken = TurnChannel(channel._publisher, "broken", ["left"], equal_pace=False)
        for each in (broken, channel):
            each.add("left", "one")
        broken._sides["left"].markdown = None  # type: ignore[assignment]
        channel._publisher._collect([channel])
        assert [written for written, _ in channel._publisher._unwritten] == [channel]

    run(work)


def test_forms_and_complete_sides_are_for_pages_only():
    key = stream_key("battle", 0)
    form = TurnEvent("form", "left", '<ul>\n<li><span class="tip">one</span></li>\n</ul>\n')
    events = [TurnEvent("text", "left", "- one"), form, TurnEvent("whole", "left", "<p>…</p>"), TurnEvent("end")]
    connection().xadd(key, entry(events))

    async def read(format: Format) -> str:
        token = TurnToken("battle", 0, format)
        stream = page_events(token, BEGINNING, language="en") if format == "page" else api_events(token, BEGINNING)
        return b"".join([part async for part in stream]).decode()

    page = asyncio.run(read("page"))
    assert '<span hx-swap-oob="beforeend:#a-battle-0-left-tip">- one</span>' in page
    assert (
        '<div hx-swap-oob="innerHTML:#a-battle-0-left-open"><ul>\ndata: <li><span id="a-battle-0-left-tip">one' in page
    )
    assert '<div hx-swap-oob="innerHTML:#a-battle-0-left-done"><p>…</p></div>' in page
    assert re.findall("event: (.+)", asyncio.run(read("api"))) == ["text", "end"]
