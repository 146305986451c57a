"""Read Markdown from the socket on stdin and reply with safe HTML, within a budget of processor time.

Some Markdown takes minutes; a process can be interrupted. It has no database, settings or keys.
"""

import signal
import socket
import time
from types import FrameType

import msgspec

from common.child_process.frames import pack, receive
from common.child_process.limits import limit_process
from common.text.markdown import render

# Budget of one text. 64,000 characters of ordinary Markdown take 0.1 s.
CPU_S = 0.25
# Loads the lexers and the table of symbols before the first text.
_WARM_UP = "**a** $x$\n\n```python\nx = 1\n```\n"


class Rendered(msgspec.Struct, array_like=True):
    html: str | None  # None if rendering exceeded its budget
    cpu_s: float


class BudgetExceeded(BaseException):
    """Not an Exception, because the formula converter catches those."""


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise BudgetExceeded


def _set_limits() -> None:
    limit_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, _interrupt)


def _render_within_budget(text: str) -> str | None:
    try:
        # C code may not return to Python to handle SIGPROF; the default action of SIGVTALRM then ends the process.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 * CPU_S)
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            return str.__str__(render(text))  # msgspec encodes exact strings only, not SafeString
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except BaseException:  # also MemoryError and panics of Rust libraries
        return None


def main() -> None:
    _set_limits()
    render(_WARM_UP)
    parent = socket.socket(fileno=0)
    while (request := receive(parent)) is not None:
        began = time.process_time()
        html = _render_within_budget(request.decode())
        parent.sendall(pack(msgspec.msgpack.encode(Rendered(html, time.process_time() - began))))


if __name__ == "__main__":
    main()
