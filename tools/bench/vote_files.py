"""Cost of exports, recomputation and imports, on the votes of tools.bench.boards."""

import re
import sys
import tempfile
import time
from pathlib import Path

from tests.worlds.ratings import reference_votes
from tests.worlds.vote_tables import SINGLE, table
from tools.bench.arena import Bench
from tools.bench.scenarios import print_row

IMPORTED = 200_000
# Runs a command and prints the peak memory of its process.
MEASURED = """
import sys
from django.core.management import call_command
call_command({arguments})
print("PEAK", next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def vote_files(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="arena-bench-files-") as name:
        folder = Path(name)
        for ending in ("jsonl", "csv", "parquet"):
            file = folder / f"votes.{ending}"
            took, peak, _ = _run(bench, "export_votes", str(file))
            size = file.stat().st_size / 1e6
            print_row(f"export of all votes as {ending}", f"{took:.0f} s, {size:.0f} MB", f"{peak} MB of memory")
        snapshot = _shell(bench, "print(AggregationRun.objects.snapshots('overall')[0].public_id)").split()[-1]
        took, peak, output = _run(bench, "recompute_snapshot", snapshot)
        print_row("newest snapshot exported and recomputed", f"{took:.0f} s", f"{peak} MB of memory")
        assert "agrees" in output, output
        took, _, output = _run(bench, "import_votes", str(reference_votes.CHATBOT_ARENA), "--slug", "chatbot-arena")
        print_row("Chatbot Arena imported, 1.67 million votes as counts", f"{took:.1f} s")
        lines = [(f"model {i % 97}", f"model {(i * 7 + 1) % 97 + 100}", "model_a") for i in range(IMPORTED)]
        took, peak, _ = _run(bench, "import_votes", str(table(folder / "single.csv", SINGLE, *lines)))
        print_row(f"{IMPORTED:,} single votes imported", f"{took:.1f} s", f"{peak} MB of memory")


def _run(bench: Bench, *arguments: str) -> tuple[float, int, str]:
    """Run a command; return (seconds including process start, peak memory in MB, output)."""
    began = time.perf_counter()
    output = _shell(bench, MEASURED.format(arguments=", ".join(map(repr, arguments))))
    took = time.perf_counter() - began
    return took, int(re.search(r"PEAK (\d+)", output)[1]) // 1024, output


def _shell(bench: Bench, code: str) -> str:
    done = bench.arena.run(sys.executable, "manage.py", "shell", "-c", code, within=600)
    assert done.returncode == 0, done.stderr
    return done.stdout
