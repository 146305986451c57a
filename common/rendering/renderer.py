"""Models' Markdown rendered without blocking the event loop: short texts inline, others in a child process."""

import asyncio
import heapq
import itertools
import logging
import re
import subprocess
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass, field

import msgspec
from django.utils.safestring import SafeString

from common.child_process import frames
from common.child_process.process import kill, start_connected
from common.rendering.child import Rendered
from common.text.markdown import declare_safe, plain, render

logger = logging.getLogger(__name__)

# The worst text of this length takes 0.04 s; most paragraphs are shorter.
MAX_INLINE_CHARACTERS = 500
# Inline rendering may take this share of the loop's time, and exceed it by MAX_INLINE_EXCESS_S.
MAX_INLINE_SHARE = 0.2
MAX_INLINE_EXCESS_S = 0.01
# Formulas and code need tables and lexers that only the child loads.
_NEEDS_CHILD = re.compile(r"\$|\\[(\[]|```|~~~")
# The child limits its own processor time; this timeout is for a child that hangs or gets no processor time.
CHILD_TIMEOUT_S = 10.0


@dataclass
class RenderingCost:
    """Accumulated cost of one turn; cheaper turns are rendered first."""

    cpu_s: float = 0.0
    html_characters: int = 0


@dataclass(order=True)
class _Job:
    priority: tuple[float, int]
    text: str = field(compare=False)
    cost: RenderingCost = field(compare=False)
    result: "asyncio.Future[SafeString]" = field(compare=False)


@dataclass
class _Child:
    process: "subprocess.Popen[bytes]"
    reader: StreamReader
    writer: StreamWriter


class Renderer:
    """Renders with one child process. Belongs to one event loop."""

    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        self._order = itertools.count()
        self._worker_task: asyncio.Task[None] | None = None
        self._child_task: asyncio.Task[_Child] | None = None
        self._inline_s = 0.0
        self._inline_updated_at = 0.0

    def start(self) -> None:
        """Start the child in advance, as that takes half a second."""
        if self._child_task is None:
            self._child_task = asyncio.create_task(_start())

    def render_inline(self, text: str) -> SafeString | None:
        """Return HTML of a short, simple text; None for others or when the loop's share is used up."""
        if len(text) > MAX_INLINE_CHARACTERS or _NEEDS_CHILD.search(text):
            return None
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._inline_s = max(0.0, self._inline_s - (began - self._inline_updated_at) * MAX_INLINE_SHARE)
        self._inline_updated_at = began
        if self._inline_s > MAX_INLINE_EXCESS_S:
            return None
        html = render(text)
        self._inline_s += loop.time() - began
        return html

    async def render(self, text: str, cost: RenderingCost) -> SafeString:
        """Return HTML, or the escaped text if the child fails; add to `cost`."""
        html = self.render_inline(text)
        if html is None:
            html = await self._render_in_child(text, cost)
        cost.html_characters += len(html)
        return html

    async def close(self) -> None:
        if self._worker_task is not None:
            self._worker_task.cancel()
        await self._stop_child()

    async def _render_in_child(self, text: str, cost: RenderingCost) -> SafeString:
        result: asyncio.Future[SafeString] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._jobs, _Job((cost.cpu_s, next(self._order)), text, cost, result))
        if self._worker_task is None or self._worker_task.done():
            self._worker_task = asyncio.create_task(self._render_jobs())
        return await result

    async def _render_jobs(self) -> None:
        while self._jobs:
            job = heapq.heappop(self._jobs)
            if job.result.done():  # cancelled
                continue
            rendered = await self._exchange(job.text)
            job.cost.cpu_s += rendered.cpu_s
            if rendered.html is None:
                logger.warning(
                    "rendering %s characters of Markdown exceeded its budget; they are shown as text", len(job.text)
                )
            if not job.result.done():
                job.result.set_result(plain(job.text) if rendered.html is None else declare_safe(rendered.html))

    async def _exchange(self, text: str) -> Rendered:
        """Let the child render one text; stop a failing child, so that the next text starts another."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(CHILD_TIMEOUT_S):
                self.start()
                assert self._child_task is not None
                child = await self._child_task
                child.writer.write(frames.pack(text.encode(errors="replace")))
                return msgspec.msgpack.decode(await frames.read(child.reader), type=Rendered)
        except Exception as error:  # one that ended _render_jobs() would leave the job pending for ever
            logger.warning("the rendering child is replaced (%r)", error)
            await self._stop_child()
            return Rendered(None, asyncio.get_running_loop().time() - began)

    async def _stop_child(self) -> None:
        child_task, self._child_task = self._child_task, None
        if child_task is None:
            return
        try:
            child = await child_task
        except (Exception, asyncio.CancelledError):
            return
        child.writer.close()
        await asyncio.to_thread(kill, child.process)


async def _start() -> _Child:
    process, connection = await asyncio.to_thread(start_connected, "common.rendering.child")
    try:
        return _Child(process, *await asyncio.open_unix_connection(sock=connection))
    except BaseException:
        connection.close()
        await asyncio.to_thread(kill, process)
        raise
