"""Time and memory of importing benchmark files; alone: `python -m tools.bench.imports`."""

import csv
import io
import json
import resource
import time

from benchmarks.imports.content import Request
from benchmarks.imports.guard import read_file

ROWS = 10_000
LARGE_BYTES = 49_000_000
WORDS = "the quick brown fox jumps over a lazy dog, and then it goes home again at nine "


def table() -> bytes:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["question", "topic", "__expected", "__metadata:level", "__description"])
    for row in range(ROWS):
        writer.writerow([f"{WORDS * 4} {row}?", f"topic {row % 40}", f"contains: {row}", row % 5, f"row {row}"])
    return text.getvalue().encode()


def json_lines() -> bytes:
    lines, size, row = [], 0, 0
    while size < LARGE_BYTES:
        record = {"id": f"q{row}", "input": f"{WORDS * 38} é {row}", "target": [str(row)], "metadata": {"row": row}}
        lines.append(json.dumps(record, ensure_ascii=False).encode())
        size += len(lines[-1]) + 1
        row += 1
    return b"\n".join(lines)


def imports(_bench: object = None) -> None:
    for name, content, limit in [("table.csv", table(), 4), ("large.jsonl", json_lines(), 15)]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        imported = read_file(content, Request(name))
        wall = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cases = len(imported.template.cases) if imported.template else 0
        print(
            f"import {name}: {len(content) / 1e6:.1f} MB, {cases} cases, {wall:.1f} s (at most {limit}), "
            f"child {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s CPU, "
            f"children's peak {after.ru_maxrss / 1024:.0f} MB"
        )


if __name__ == "__main__":
    imports()
