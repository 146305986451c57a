import msgspec

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.limits import MAX_FILE_BYTES
from common.child_process.process import ChildFailed, run_once

# Linux refuses longer single arguments of a program.
_MAX_REQUEST_BYTES = 100_000


def read_file(content: bytes, request: Request) -> Imported:
    """Read an import in a child process, 15 seconds at most; every error is in the log."""
    encoded = msgspec.json.encode(request)
    if len(content) > MAX_FILE_BYTES:
        return Imported.refused("file_too_large", request.format, limit=MAX_FILE_BYTES)
    if len(encoded) > _MAX_REQUEST_BYTES:
        return Imported.refused("mapping_too_large", request.format, limit=_MAX_REQUEST_BYTES)
    try:
        output = run_once("benchmarks.imports.child", encoded.decode(), content=content)
    except ChildFailed:
        return Imported.refused("too_demanding", request.format)
    return msgspec.msgpack.decode(output, type=Imported)
