"""Reader of `readelf --dynamic`; 64 bits, little endian."""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

MAGIC, LOAD, DYNAMIC = b"\x7fELF\x02\x01", 1, 2
NEEDED, STRING_TABLE, SONAME = 1, 5, 14


def is_elf(file: Path) -> bool:
    with file.open("rb") as start:
        return start.read(len(MAGIC)) == MAGIC


def names(file: Path) -> Iterator[tuple[int, str]]:
    """Yield (NEEDED, soname) for each dependency, and (SONAME, name) for the file's own."""
    with file.open("rb") as opened:
        content = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    headers_at, size, count = *struct.unpack_from("<Q", content, 32), *struct.unpack_from("<HH", content, 54)
    # type, offset in the file, address in memory, bytes
    segments = [
        (kind, *struct.unpack_from("<QQ", content, at + 8), *struct.unpack_from("<Q", content, at + 32))
        for at in range(headers_at, headers_at + size * count, size)
        for kind in struct.unpack_from("<I", content, at)
    ]
    for kind, offset, _address, length in segments:
        if kind == DYNAMIC:
            entries = list(struct.iter_unpack("<QQ", content[offset : offset + length - length % 16]))
            table = next(value for tag, value in entries if tag == STRING_TABLE)
            start = next(
                offset + table - address
                for kind, offset, address, length in segments
                if kind == LOAD and address <= table < address + length
            )
            for tag, value in entries:
                if tag in (NEEDED, SONAME):
                    yield tag, content[start + value : content.find(b"\0", start + value)].decode()
