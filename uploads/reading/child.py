"""`python -m uploads.reading.child document|image|icon|logo TYPE`: read a file from stdin, write a Finding to stdout.

Pages of a PDF are written before it, one by one (uploads.reading.pages.Page). Hostile files can take any time and
memory: kernel limits apply. The process has no database, settings or keys, and cannot write files.
"""

import logging
import sys

import msgspec

from common.child_process.frames import pack
from common.child_process.limits import limit_run
from common.panics import is_damage
from uploads.reading import kinds
from uploads.reading.findings import Finding, Reason, Refusal, Unreadable
from uploads.reading.pages import Page
from uploads.reading.sniffing import detect_type

# Longer than the guard waits.
ALARM_S = 100


def _read(kind: str, content: bytes, media_type: str) -> Finding:
    match kind:
        case "image":
            from uploads.reading.pictures import prepare_picture

            return prepare_picture(content)
        case "icon":
            from uploads.reading.pictures import prepare_icon

            return prepare_icon(content)
        case "logo":
            from uploads.reading.pictures import prepare_logo

            return prepare_logo(content)
    if not media_type and (detected := detect_type(content, "")) is not None:
        media_type = detected.media_type
    return read_document(content, media_type)


def read_document(content: bytes, media_type: str) -> Finding:
    """Read with the module of a type; only that module and its library are loaded."""
    if media_type in kinds.OFFICE:
        from uploads.reading import office

        return office.extract_text(content)
    if media_type in kinds.OPEN_DOCUMENTS:
        from uploads.reading import opendocument

        return opendocument.extract_text(content)
    match media_type:
        case kinds.EPUB:
            from uploads.reading import epub

            return epub.extract_text(content)
        case kinds.RTF:
            from uploads.reading import rtf

            return rtf.extract_text(content)
        case kinds.HTML:
            from uploads.reading import markup

            return markup.extract_text(content)
        case kinds.MAIL | kinds.MAILBOX:
            from uploads.reading import mail

            return mail.extract_mail(content) if media_type == kinds.MAIL else mail.extract_mailbox(content)
        case kinds.NOTEBOOK:
            from uploads.reading import notebook

            return notebook.extract_text(content)
    from uploads.reading.pdf import extract_text

    return extract_text(content, _send)


def _send(message: Page | Finding) -> None:
    sys.stdout.buffer.write(pack(msgspec.msgpack.encode(message)))
    sys.stdout.buffer.flush()


def _read_safely(kind: str, content: bytes, media_type: str) -> Finding:
    try:
        return _read(kind, content, media_type)
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
    finding = _read_safely(sys.argv[1], sys.stdin.buffer.read(), sys.argv[2])
    _send(finding)


if __name__ == "__main__":
    main()
