import codecs

from benchmarks.imports.content import ReadLine
from benchmarks.imports.reading_log import Place, ReadError, ReadingLog
from common.text.encodings import alternatives, decode

BOM = codecs.BOM_UTF8
_CHUNK_BYTES = 1 << 20


def as_utf8(content: bytes, encoding: str, log: ReadingLog, file: str = "") -> bytes:
    """Return a text in UTF-8. What was assumed goes to the log; bytes that are no text are left to check_utf8.

    encoding: for a text that is no Unicode; "" finds it out.
    """
    if _is_plain(content):
        return content
    decoded = decode(content, encoding)
    if decoded is None:
        return content
    place = Place(0, 0, file)
    if decoded.is_assumed or encoding:
        log.changed("encoding_assumed", place, encoding=decoded.encoding)
        found = alternatives(content, decoded.encoding)
        log.encodings = log.encodings or [ReadLine(name, line) for name, line in found]
    if decoded.other_lines:
        log.changed("lines_in_other_encoding", place, count=decoded.other_lines, encoding=decoded.other)
    if decoded.dropped:
        log.left_out("controls_left_out", place, count=decoded.dropped)
    if decoded.broken:
        log.changed("characters_broken", place, count=decoded.broken)
    return decoded.text.encode("utf-8", "replace")


def _is_plain(content: bytes) -> bool:
    """Return whether it is UTF-8, without NUL and without the escapes of Japanese mails."""
    try:
        check_utf8(content)
    except ReadError:
        return False
    return b"\x1b$" not in content


def check_utf8(content: bytes, file: str = "") -> None:
    """Raise ReadError at the first byte that is not UTF-8, or NUL. Memory is that of a chunk."""
    nul = content.find(b"\0")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(content), _CHUNK_BYTES):
        pending = len(decoder.getstate()[0])
        chunk = content[start : start + _CHUNK_BYTES]
        try:
            decoder.decode(chunk, final=start + _CHUNK_BYTES >= len(content))
        except UnicodeDecodeError as error:
            wrong = start - pending + error.start
            if nul < 0 or wrong < nul:
                raise ReadError("not_utf8", place_of_byte(content, wrong, file)) from error
            break
    if nul >= 0:
        raise ReadError("nul", place_of_byte(content, nul, file))


def place_of_byte(content: bytes, offset: int, file: str = "") -> Place:
    start = content.rfind(b"\n", 0, offset) + 1
    column = len(content[start:offset].decode("utf-8", "replace")) + 1
    return Place(content.count(b"\n", 0, offset) + 1, column, file)


def place_of_character(text: str, offset: int, file: str = "") -> Place:
    return Place(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset), file)
