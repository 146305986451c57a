import codecs

from benchmarks.imports.reading_log import Place, ReadError

BOM = codecs.BOM_UTF8
_CHUNK_BYTES = 1 << 20


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
