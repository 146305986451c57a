"""`python -m uploads.reading.child document|image`: reads a file from stdin, writes a Finding to stdout.

A process of its own, because PDFs and pictures can be made to take any time and memory: it can be killed, and its
limits are the kernel's. It knows no database, no settings and no keys, and may write no file.
"""

import logging
import resource
import signal
import sys

import msgspec

from uploads.reading.findings import Finding, Reason, Refusal, Unreadable

CPU_S = 10
# Against a parent that is gone: it would have ended this by then.
ALARM_S = 20
MEMORY_BYTES = 640 << 20


def _limit() -> None:
    """Past its limit of processor time the kernel ends the process; past that of memory there is a MemoryError."""
    for what, most in [
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]:
        resource.setrlimit(what, (most, most))
    signal.alarm(ALARM_S)


def _read(kind: str, content: bytes) -> Finding:
    if kind == "image":
        from uploads.reading.pictures import prepared

        return prepared(content)
    from uploads.reading.pdf import text_of

    return text_of(content)


def _finding(kind: str, content: bytes) -> Finding:
    try:
        return _read(kind, content)
    except Unreadable as error:
        return Refusal(error.reason)
    except MemoryError:
        return Refusal(Reason.TOO_DEMANDING)
    except Exception:  # the libraries raise whatever a broken file leads them to, RecursionError too
        return Refusal(Reason.DAMAGED)


def main() -> None:
    _limit()
    logging.disable()  # pypdf warns about every oddity
    finding = _finding(sys.argv[1], sys.stdin.buffer.read())
    sys.stdout.buffer.write(msgspec.msgpack.encode(finding))


if __name__ == "__main__":
    main()
