"""`python -m benchmarks.imports.child REQUEST`: read a file from stdin, write Imported to stdout as msgpack.

REQUEST is `content.Request` as JSON. The process has the limits and the empty environment of uploads.reading.child.
"""

import gc
import sys

import msgspec

from benchmarks.imports.content import Imported, Request
from benchmarks.imports.limits import MAX_RESULT_BYTES
from common.child_process.limits import limit_run
from common.panics import is_damage


def _read_safely(content: bytes, request: Request) -> bytes:
    try:
        from benchmarks.imports.reading import read_import

        imported = read_import(content, request)
        encoded = msgspec.msgpack.encode(imported)
    except MemoryError:
        return msgspec.msgpack.encode(Imported.refused("too_demanding", request.format))
    except BaseException as error:  # readers meet files that nothing foresaw, also RecursionError
        if not is_damage(error):
            raise
        return msgspec.msgpack.encode(Imported.refused("not_understood", request.format))
    if len(encoded) > MAX_RESULT_BYTES:
        return msgspec.msgpack.encode(Imported.refused("result_too_large", request.format))
    return encoded


def main() -> None:
    limit_run()
    gc.disable()  # the process ends after one file, and hundreds of thousands of values are all in use
    request = msgspec.json.decode(sys.argv[1], type=Request)
    sys.stdout.buffer.write(_read_safely(sys.stdin.buffer.read(), request))


if __name__ == "__main__":
    main()
