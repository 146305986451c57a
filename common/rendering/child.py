"""`python -m common.rendering.child`: read Markdown from the socket on stdin, answer with safe HTML.

Some Markdown takes minutes. Here it can be interrupted without holding up the process that serves the streams:
a text over its budget of processor time gets no HTML. Knows no database, no settings and no keys.
"""

import resource
import signal
import socket
import time
from types import FrameType

import msgspec

from common.rendering.frames import Rendered, pack, receive
from common.text.markdown import render

# Of one text. 64,000 characters of ordinary Markdown take 0.1 s.
CPU_S = 0.25
MEMORY_BYTES = 640 << 20
# Loads the lexers and the table of symbols before the first text is waited for.
_WARM_UP = "**a** $x$\n\n```python\nx = 1\n```\n"


class OverBudget(BaseException):
    """Not an Exception, which the converter of formulas would catch."""


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise OverBudget


def _limit() -> None:
    for what, most in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, _interrupt)


def _rendered(text: str) -> str | None:
    try:
        # A library in C does not return to Python for SIGPROF; the default action of SIGVTALRM ends the process.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 * CPU_S)
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            return str.__str__(render(text))  # msgspec encodes exact strings only, not SafeString
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except BaseException:  # also MemoryError, and the panic of a library in Rust
        return None


def main() -> None:
    _limit()
    render(_WARM_UP)
    parent = socket.socket(fileno=0)
    while (request := receive(parent)) is not None:
        began = time.process_time()
        html = _rendered(request.decode())
        parent.sendall(pack(msgspec.msgpack.encode(Rendered(html, time.process_time() - began))))


if __name__ == "__main__":
    main()
