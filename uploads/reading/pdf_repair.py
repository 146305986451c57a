"""A PDF without its end or its table of objects, made readable. No Django: only the guarded child process calls it."""

import re
import zlib
from collections.abc import Iterator

MAX_UNPACKED_BYTES = 40_000_000

_OBJECT_END = b"endobj"
_OBJECT = re.compile(rb"(?<!\d)(\d{1,9}) (\d{1,5}) obj\b")
# How far behind an object's number its type is searched.
_TYPE_WITHIN = 4_000
_CATALOG = re.compile(rb"/Type\s*/Catalog\b")
_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
_FIRST = re.compile(rb"/First\s+(\d{1,9})")
_STREAM = re.compile(rb"stream\r?\n")
_PAIR = re.compile(rb"(\d{1,9})\s+(\d{1,9})")


def repaired(content: bytes) -> Iterator[bytes]:
    """Yield the file with a new end that leads to its catalog, and to a catalog of all its pages."""
    # The length of a cut stream would hide what is appended.
    whole = content[: content.rfind(_OBJECT_END) + len(_OBJECT_END)] if _OBJECT_END in content else b""
    content = whole + b"\n" + b"".join(_unpacked(whole))
    catalogs, pages, last = [], [], 1
    for number, generation, head in _objects(content):
        last = max(last, number)
        if _CATALOG.search(head):
            catalogs.append((number, generation))
        elif _PAGE.search(head):
            pages.append(b"%d %d R" % (number, generation))
    if catalogs:
        yield content + b"trailer<</Root %d %d R>>\n%%%%EOF\n" % catalogs[-1]
    if pages:
        tree = b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n" % (last + 1, last + 2)
        kids = b" ".join(dict.fromkeys(pages))
        tree += b"%d 0 obj\n<</Type/Pages/Count %d/Kids[%s]>>\nendobj\n" % (last + 2, len(set(pages)), kids)
        yield content + tree + b"trailer<</Root %d 0 R>>\n%%%%EOF\n" % (last + 1)


def _objects(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, generation and beginning of each object."""
    for found in _OBJECT.finditer(content):
        head = content[found.end() : found.end() + _TYPE_WITHIN]
        yield int(found[1]), int(found[2]), head.partition(b"endobj")[0].partition(b"stream")[0]


def _unpacked(content: bytes) -> Iterator[bytes]:
    """Yield the objects of compressed object streams as plain ones."""
    room = MAX_UNPACKED_BYTES
    for found in _OBJECT.finditer(content):
        head = content[found.end() : found.end() + _TYPE_WITHIN].partition(b"endobj")[0]
        first, start = _FIRST.search(head), _STREAM.search(content, found.end(), found.end() + _TYPE_WITHIN)
        if not (_OBJECT_STREAM.search(head) and first and start) or room <= 0:
            continue
        try:
            unpacked = zlib.decompressobj().decompress(content[start.end() :], room)
        except zlib.error:
            continue
        room -= len(unpacked)
        places = [(int(pair[1]), int(first[1]) + int(pair[2])) for pair in _PAIR.finditer(unpacked[: int(first[1])])]
        ends = [place for _number, place in places[1:]] + [len(unpacked)]
        for (number, place), end in zip(places, ends, strict=False):
            yield b"%d 0 obj\n%s\nendobj\n" % (number, unpacked[place:end])
