"""`python -m uploads.reading.child document|image|icon|logo`: read a file from stdin, write a Finding to stdout.

Pages of a PDF are written before it, one by one (uploads.reading.pages.Page). Hostile files can take any time and
memory: kernel limits apply. The process has no database, settings or keys, and cannot write files.
"""

import logging
import sys

import msgspec

from common.child_process.frames import pack
from common.child_process.limits import limit_run
from common.panics import is_damage
from uploads.reading.findings import Finding, Reason, Refusal, Unreadable
from uploads.reading.pages import Page
from uploads.reading.sniffing import OLE, ZIP

# Longer than the guard waits.
ALARM_S = 100


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

    return extract_text(content, _send)


def _send(message: Page | Finding) -> None:
    sys.stdout.buffer.write(pack(msgspec.msgpack.encode(message)))
    sys.stdout.buffer.flush()


def _read_safely(kind: str, content: bytes) -> Finding:
    try:
        return _read(kind, content)
    except Unreadable as error:
        return Refusal(error.reason)
    except MemoryError:
        return Refusal(Reason.TOO_DEMANDING)
    except BaseException as error:  # the libraries raise any exception for broken files, also RecursionError
        if not is_damage(error):
            raise
        return Refusal(Reason.DAMAGED)


def main() -> None:
    limit_run(alarm_s=ALARM_S)
    logging.disable()  # pypdf logs a warning for every irregularity
    finding = _read_safely(sys.argv[1], sys.stdin.buffer.read())
    _send(finding)


if __name__ == "__main__":
    main()
