"""`python -m tests.benchmarks.imports.damaged SEED NUMBER`: read damaged files as the guarded child does.

Prints JSON lines: [file's name, damage, exit code, [[code, values] of each refusal]].
"""

import gzip
import json
import os
import sys
from collections.abc import Callable
from random import Random

import msgspec

from benchmarks.imports.child import _read_safely
from benchmarks.imports.content import Imported, Request
from common.child_process.limits import limit_run
from tests.benchmarks.imports import files

ROWS = [["question", "expected"], *([f"what is {number}?", str(number)] for number in range(40))]
TABLE = "".join(f"{question},{expected}\n" for question, expected in ROWS).encode()
SIZES = [b"\xff" * 8, b"\x00" * 8, b"\xff\xff\xff\x7f" * 2, b"\xfe\xff\xff\xff\x0f"]


def samples() -> dict[str, bytes]:
    contents = {
        name: content for content, name in (files.sample(path.name) for path in sorted(files.SAMPLES.iterdir()))
    }
    columns = dict(zip(ROWS[0], zip(*ROWS[1:], strict=True), strict=True))
    return contents | {
        "own.parquet": files.parquet(columns), "own.xlsx": files.workbook(ROWS), "own.csv.gz": gzip.compress(TABLE),
        "own.zip": files.archive({"own.csv": TABLE, "read.txt": b"me"}),
    }  # fmt: skip


def _cut(random: Random, content: bytes) -> bytes:
    return content[: random.randrange(len(content))]


def _headless(random: Random, content: bytes) -> bytes:
    return bytes(random.randrange(256) for _ in range(4)) + content[4:]


def _flipped(random: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(random.randint(1, 6)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _with_sizes(random: Random, content: bytes) -> bytes:
    at, size = random.randrange(len(content)), random.choice(SIZES)
    return content[:at] + size + content[at + len(size) :]


def _without_a_part(random: Random, content: bytes) -> bytes:
    at = random.randrange(len(content))
    return content[:at] + content[at + random.randint(1, 50) :]


DAMAGES: list[Callable[[Random, bytes], bytes]] = [_cut, _headless, _flipped, _with_sizes, _without_a_part]


def read_forked(content: bytes, name: str) -> tuple[int, list[tuple[str, dict[str, object]]]]:
    """Return the exit code of a process with the child's limits, and its refusals."""
    reads, writes = os.pipe()
    if not (pid := os.fork()):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        limit_run()
        with os.fdopen(writes, "wb") as out:
            out.write(_read_safely(content, Request(name)))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as output:
        encoded = output.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    entries = msgspec.msgpack.decode(encoded, type=Imported).entries if code == 0 else []
    return code, [(entry.code, entry.values) for entry in entries if entry.action == "refused"]


def main() -> None:
    random, contents = Random(int(sys.argv[1])), samples()
    for name in sorted(contents) * int(sys.argv[2]):
        damage = random.choice(DAMAGES)
        outcome = [name, damage.__name__, *read_forked(damage(random, contents[name]), name)]
        sys.stdout.write(f"{json.dumps(outcome)}\n")


if __name__ == "__main__":
    main()
