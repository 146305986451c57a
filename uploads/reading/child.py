"""`python -m uploads.reading.child document|image|icon|logo`: read a file from stdin, write a Finding to stdout.

Hostile files can take any time and memory: kernel limits apply. The process has no database, settings or keys, and
cannot write files.
"""

import logging
import resource
import signal
import sys

import msgspec

from uploads.reading.findings import Finding, Reason, Refusal, Unreadable
from uploads.reading.sniffing import OLE, ZIP

CPU_S = 10
# Ends this process if the parent, which would have killed it by then, has died.
ALARM_S = 20
MEMORY_BYTES = 640 << 20


def _set_limits() -> None:
    """Past its CPU time the process is killed, past its memory it gets a MemoryError."""
    for limit, value in [
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]:
        resource.setrlimit(limit, (value, value))
    signal.alarm(ALARM_S)


def _read(kind: str, content: bytes) -> Finding:
    if kind == "image":
        from uploads.reading.pictures import prepare_picture

        return prepare_picture(content)
    if kind == "icon":
        from uploads.reading.pictures import prepare_icon

        return prepare_icon(content)
    if kind == "logo":
        from uploads.reading.pictures import prepare_logo

        return prepare_logo(content)
    if content.startswith((ZIP, OLE)):
        from uploads.reading import office

        return office.extract_text(content)
    from uploads.reading.pdf import extract_text

    return extract_text(content)


def _read_safely(kind: str, content: bytes) -> Finding:
    try:
        return _read(kind, content)
    except Unreadable as error:
        return Refusal(error.reason)
    except MemoryError:
        return Refusal(Reason.TOO_DEMANDING)
    except Exception:  # the libraries raise any exception for broken files, also RecursionError
        return Refusal(Reason.DAMAGED)


def main() -> None:
    _set_limits()
    logging.disable()  # pypdf logs a warning for every irregularity
    finding = _read_safely(sys.argv[1], sys.stdin.buffer.read())
    sys.stdout.buffer.write(msgspec.msgpack.encode(finding))


if __name__ == "__main__":
    main()
