"""Markdown of models becomes HTML without holding up the event loop: short texts here, others in a child process."""

import asyncio
import heapq
import itertools
import logging
import re
import socket
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from django.utils.safestring import SafeString

from common.rendering.frames import LENGTH_BYTES, Rendered, pack
from common.text.markdown import declare_safe, plain, render

logger = logging.getLogger(__name__)

CODE = Path(__file__).resolve().parents[2]
# Rendered on the loop, where the worst text of this length takes 0.04 s: most paragraphs are shorter.
MAX_CHARACTERS_HERE = 500
# Rendering on the loop may take this share of its time, and be this far ahead of it.
SHARE_HERE = 0.2
AHEAD_HERE_S = 0.01
# Formulas and code need tables and lexers, which only the child loads.
_FOR_THE_CHILD = re.compile(r"\$|\\[(\[]|```|~~~")
# The child limits itself by processor time; this is for a machine that gives it none, or a child that hangs.
PATIENCE_S = 10.0


@dataclass
class Spending:
    """What rendering the texts of one turn has cost so far; a turn that has cost less goes first."""

    cpu_s: float = 0.0
    html_characters: int = 0


@dataclass(order=True)
class _Job:
    priority: tuple[float, int]
    text: str = field(compare=False)
    spending: Spending = field(compare=False)
    result: "asyncio.Future[SafeString]" = field(compare=False)


@dataclass
class _Child:
    process: "subprocess.Popen[bytes]"
    reader: StreamReader
    writer: StreamWriter


class Renderer:
    """Belongs to one event loop. Its child renders one text after the other."""

    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        self._order = itertools.count()
        self._working: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[_Child] | None = None
        self._spent_here_s = 0.0
        self._counted_at = 0.0

    def start(self) -> None:
        """Start the child before it is needed, as it takes half a second."""
        if self._starting is None:
            self._starting = asyncio.create_task(_start())

    def render_here(self, text: str) -> SafeString | None:
        """HTML of a short and simple text, at once; None for others, and while the loop's share is used up."""
        if len(text) > MAX_CHARACTERS_HERE or _FOR_THE_CHILD.search(text):
            return None
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._spent_here_s = max(0.0, self._spent_here_s - (began - self._counted_at) * SHARE_HERE)
        self._counted_at = began
        if self._spent_here_s > AHEAD_HERE_S:
            return None
        html = render(text)
        self._spent_here_s += loop.time() - began
        return html

    async def render(self, text: str, spending: Spending) -> SafeString:
        """HTML of any text, in its turn; the text itself where the child gives up. Adds to the spending."""
        html = self.render_here(text)
        if html is None:
            html = await self._in_child(text, spending)
        spending.html_characters += len(html)
        return html

    async def close(self) -> None:
        if self._working is not None:
            self._working.cancel()
        await self._end_child()

    async def _in_child(self, text: str, spending: Spending) -> SafeString:
        result: asyncio.Future[SafeString] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._jobs, _Job((spending.cpu_s, next(self._order)), text, spending, result))
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await result

    async def _work(self) -> None:
        while self._jobs:
            job = heapq.heappop(self._jobs)
            if job.result.done():  # its turn was given up
                continue
            rendered = await self._exchange(job.text)
            job.spending.cpu_s += rendered.cpu_s
            if rendered.html is None:
                logger.warning("%s characters of Markdown took too long and are shown as text", len(job.text))
            if not job.result.done():
                job.result.set_result(plain(job.text) if rendered.html is None else declare_safe(rendered.html))

    async def _exchange(self, text: str) -> Rendered:
        """Send one text to the child and receive its HTML; a child that fails is replaced."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(PATIENCE_S):
                self.start()
                assert self._starting is not None
                child = await self._starting
                child.writer.write(pack(text.encode(errors="replace")))
                length = await child.reader.readexactly(LENGTH_BYTES)
                content = await child.reader.readexactly(int.from_bytes(length))
                return msgspec.msgpack.decode(content, type=Rendered)
        except Exception as error:  # one that ended _work() would leave its job waiting for ever
            logger.warning("the child that renders Markdown is replaced (%r)", error)
            await self._end_child()
            return Rendered(None, asyncio.get_running_loop().time() - began)

    async def _end_child(self) -> None:
        starting, self._starting = self._starting, None
        if starting is None:
            return
        try:
            child = await starting
        except (Exception, asyncio.CancelledError):
            return
        child.writer.close()
        child.process.kill()
        await asyncio.to_thread(child.process.wait)


async def _start() -> _Child:
    ours, theirs = socket.socketpair()
    with theirs:
        process = await asyncio.to_thread(_spawn, theirs)
    try:
        return _Child(process, *await asyncio.open_unix_connection(sock=ours))
    except BaseException:
        ours.close()
        process.kill()
        raise


def _spawn(its_socket: socket.socket) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-s", "-m", "common.rendering.child"],
        cwd=CODE, env={"PYTHONDONTWRITEBYTECODE": "1"}, start_new_session=True,
        stdin=its_socket.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
