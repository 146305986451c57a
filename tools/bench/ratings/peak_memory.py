"""Peak memory of one fit in a process of its own: peak_memory.py style|models votes.npz. Prints MB and CPU seconds."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# A snapshot is fitted in a worker with the settings of the site.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")

import django
import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[np.generic]]


def measure(task: str, **arrays: NDArray[np.generic]) -> tuple[float, float]:
    """Return the peak memory of a process that runs the task, in MB, and the task's CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.npz"
        np.savez(votes, **arrays)
        command = [sys.executable, "-m", "tools.bench.ratings.peak_memory", task, str(votes)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, check=True)
    peak, seconds = done.stdout.split()
    return float(peak), float(seconds)


def fit_models(arrays: Arrays) -> None:
    from leaderboard.counting import method
    from leaderboard.rating.counts import Counts
    from leaderboard.rating.snapshot_fit import fit_snapshot

    names = [f"model-{index:04d}" for index in range(int(arrays["models"]))]
    counts = Counts.of_cells(names, arrays.pop("cells"), arrays.pop("n"))
    fit_snapshot(counts, method.default_parameters())


def fit_style(arrays: Arrays) -> None:
    from leaderboard.rating import style_control

    features, established = arrays["features"], np.ones(int(arrays["models"]), dtype=bool)
    style_control.fit_style(
        arrays["left"], arrays["right"], arrays["share"], features,
        established=established, scaling=style_control.scaling_of(features), voter=arrays["voter"],
    )  # fmt: skip


def main() -> None:
    django.setup()
    from common.allocator import keep_freed_arrays

    keep_freed_arrays()
    task = {"models": fit_models, "style": fit_style}[sys.argv[1]]
    with np.load(sys.argv[2]) as file:
        arrays = dict(file)
    begun = time.process_time()
    task(arrays)
    seconds = time.process_time() - begun
    sizes = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(sizes["VmHWM"].split()[0]) / 1024, seconds)


if __name__ == "__main__":
    main()
