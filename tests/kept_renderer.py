"""Renderer of the tests' engines: its child process is kept for the next test, as a start takes half a second."""

import asyncio
import socket
import subprocess

from common.child_process.process import kill, start_connected
from common.rendering import renderer
from common.rendering.child import Rendered
from common.rendering.renderer import Renderer

# Idle children with their sockets; each engine takes one.
_kept: "list[tuple[subprocess.Popen[bytes], socket.socket]]" = []


class RendererOfTests(Renderer):
    """Takes a child with the first text that needs one: few tests do."""

    _socket: socket.socket | None = None

    def start(self) -> None:
        pass

    async def close(self) -> None:
        """Keep the child unless it renders: that HTML would answer the next test."""
        is_idle = self._worker_task is None or self._worker_task.done()
        if is_idle and self._socket is not None and self._child_task is not None:
            child = await self._child_task
            child.writer.close()
            _kept.append((child.process, self._socket))
        else:
            await super().close()

    async def _exchange(self, text: str) -> Rendered:
        if self._child_task is None:
            self._child_task = asyncio.create_task(self._take_child())
        return await super()._exchange(text)

    async def _stop_child(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        await super()._stop_child()

    async def _take_child(self) -> renderer._Child:
        if _kept:
            process, self._socket = _kept.pop()
        else:
            process, self._socket = await asyncio.to_thread(start_connected, "common.rendering.child")
        # The loop closes its own copy of the socket.
        return renderer._Child(process, *await asyncio.open_unix_connection(sock=self._socket.dup()))


def stop_kept_children() -> None:
    while _kept:
        process, connection = _kept.pop()
        connection.close()
        kill(process)
