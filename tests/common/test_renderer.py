import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from common.rendering import renderer as renderer_module
from common.rendering.child import CPU_S
from common.rendering.renderer import Renderer, RenderingCost

SLOW = "[" * 60_000
CODE = "```python\nx = 1\n```"


def run_with_renderer(work: Callable[[Renderer], Awaitable[None]]) -> None:
    async def run() -> None:
        renderer = Renderer()
        try:
            await work(renderer)
        finally:
            await renderer.close()

    asyncio.run(run())


async def child_pid(renderer: Renderer) -> int:
    assert renderer._child_task is not None
    return (await renderer._child_task).process.pid


@pytest.mark.processes
def test_text_over_its_budget_is_shown_as_plain_text():
    async def work(renderer: Renderer) -> None:
        cost = RenderingCost()
        assert await renderer.render(SLOW, cost) == f'<pre class="plain" tabindex="0">{SLOW}</pre>'
        assert cost.cpu_s < 4 * CPU_S
        pid = await child_pid(renderer)
        assert 'class="mi"' in await renderer.render(CODE, cost)
        assert await child_pid(renderer) == pid

    run_with_renderer(work)


@pytest.mark.processes
def test_loop_goes_on_while_slow_text_is_rendered():
    async def work(renderer: Renderer) -> None:
        steps = 0
        rendering = asyncio.create_task(renderer.render(SLOW, RenderingCost()))
        while not rendering.done():
            await asyncio.sleep(0.001)
            steps += 1
        assert steps > 10

    run_with_renderer(work)


def test_short_simple_texts_are_rendered_without_a_child():
    async def work(renderer: Renderer) -> None:
        assert renderer.render_inline("a **b**") == "<p>a <strong>b</strong></p>\n"
        assert [renderer.render_inline(text) for text in ("a" * 501, CODE, "so $x$", r"so \(x\)")] == [None] * 4

    run_with_renderer(work)


def test_many_short_texts_use_only_a_share_of_the_loop():
    async def work(renderer: Renderer) -> None:
        assert None in [renderer.render_inline("[" * 500) for _ in range(200)]

    run_with_renderer(work)


@pytest.mark.processes
def test_killed_child_costs_one_text_and_is_replaced():
    async def work(renderer: Renderer) -> None:
        await renderer.render(CODE, RenderingCost())
        pid = await child_pid(renderer)
        os.kill(pid, signal.SIGKILL)
        assert await renderer.render(CODE, RenderingCost()) == f'<pre class="plain" tabindex="0">{CODE}</pre>'
        assert 'class="mi"' in await renderer.render(CODE, RenderingCost())
        assert await child_pid(renderer) != pid

    run_with_renderer(work)


@pytest.mark.processes
def test_hung_child_is_replaced(monkeypatch):
    async def work(renderer: Renderer) -> None:
        await renderer.render(CODE, RenderingCost())
        os.kill(await child_pid(renderer), signal.SIGSTOP)
        with monkeypatch.context() as patched:
            patched.setattr(renderer_module, "CHILD_TIMEOUT_S", 0.1)
            assert (await renderer.render(CODE, RenderingCost())).startswith('<pre class="plain"')
        assert 'class="mi"' in await renderer.render(CODE, RenderingCost())

    run_with_renderer(work)


@pytest.mark.processes
def test_child_that_cannot_be_started_costs_one_text(monkeypatch):
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    async def work(renderer: Renderer) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(renderer_module, "start_connected", refuse)
            async with asyncio.timeout(60):
                assert (await renderer.render(CODE, RenderingCost())).startswith('<pre class="plain"')
        assert 'class="mi"' in await renderer.render(CODE, RenderingCost())

    run_with_renderer(work)


@pytest.mark.processes
def test_turn_that_cost_less_is_rendered_first():
    async def work(renderer: Renderer) -> None:
        done: list[str] = []

        async def render(name: str, spent_s: float) -> None:
            await renderer.render(CODE, RenderingCost(cpu_s=spent_s))
            done.append(name)

        names = {"running": 0.0, "dear": 0.9, "cheap": 0.1, "new": 0.0}
        await asyncio.gather(*(render(name, spent_s) for name, spent_s in names.items()))
        assert done == ["running", "new", "cheap", "dear"] or done == ["new", "running", "cheap", "dear"]

    run_with_renderer(work)


@pytest.mark.processes
def test_text_of_a_cancelled_turn_is_not_rendered():
    async def work(renderer: Renderer) -> None:
        first = asyncio.create_task(renderer.render(CODE, RenderingCost()))
        cost = RenderingCost()
        second = asyncio.create_task(renderer.render(CODE, cost))
        await asyncio.sleep(0)
        second.cancel()
        await first
        await renderer.render(CODE, RenderingCost())
        assert cost == RenderingCost()

    run_with_renderer(work)


@pytest.mark.processes
def test_child_ends_with_its_parent():
    async def work(renderer: Renderer) -> None:
        await renderer.render(CODE, RenderingCost())
        assert renderer._child_task is not None
        child = await renderer._child_task
        child.writer.close()
        assert await asyncio.to_thread(child.process.wait, 60) == 0

    run_with_renderer(work)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("work", "ending"),
    [
        ("sum(range(10**12))", -signal.SIGVTALRM),  # does not return to Python
        ("bytearray(10**10)", 0),  # a MemoryError
        ("[0 for _ in iter(int, 1)]", 0),
    ],
)
def test_child_survives_or_ends_by_its_own_limits(work: str, ending: int):
    program = (
        "from common.rendering import child\n"
        "child._set_limits()\n"
        f"child.render = lambda text: {work}\n"
        "assert child._render_within_budget('') is None\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert ended.returncode == ending, ended.stderr
