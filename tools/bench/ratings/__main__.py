"""`make bench-ratings`: check the ratings' calibration and measure their cost."""

import argparse
import os
import sys
import time

# Set before numpy is imported: parallel processes are slower with BLAS threads than without.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")

import django  # noqa: E402

django.setup()

from concurrent.futures import ProcessPoolExecutor  # noqa: E402

import numpy as np  # noqa: E402

from tools.bench.ratings import calibration  # noqa: E402
from tools.bench.ratings.aggregation import aggregation  # noqa: E402
from tools.bench.ratings.benchmarks import benchmark_coverage, benchmark_report  # noqa: E402
from tools.bench.ratings.context import context  # noqa: E402
from tools.bench.ratings.judges import agreement_coverage, calibrated_boards, judged_board_cost, stop_rule  # noqa: E402
from tools.bench.ratings.other_libraries import compare_libraries  # noqa: E402
from tools.bench.ratings.own_boards import own_board_cost, own_boards  # noqa: E402
from tools.bench.ratings.ranks import first_place, rank_ranges  # noqa: E402
from tools.bench.ratings.report import Report  # noqa: E402
from tools.bench.ratings.rings import rings  # noqa: E402
from tools.bench.ratings.speed import speed  # noqa: E402
from tools.bench.ratings.style import style  # noqa: E402
from tools.bench.ratings.ties import ties  # noqa: E402
from tools.bench.ratings.tiny import tiny  # noqa: E402

CALIBRATION = {
    "intervals": calibration.intervals,
    "tiny": tiny,
    "style": style,
    "context": context,
    "sampling": calibration.sampling,
    "ranks": rank_ranges,
    "anomalies": calibration.anomalies,
    "rings": rings,
    "benchmarks": benchmark_coverage,
    "agreement": agreement_coverage,
    "calibrated": calibrated_boards,
    "stop-rule": stop_rule,
    "own-boards": own_boards,
}
COSTS = {
    "benchmark-report": benchmark_report,
    "judged-board": judged_board_cost,
    "own-board": own_board_cost,
    "speed": speed,
    "first-place": first_place,
    "ties": ties,
    "rivals": compare_libraries,
    "aggregation": aggregation,
}
# Takes minutes.
NOT_QUICK = {"aggregation"}
QUICK = 0.05


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=[*CALIBRATION, *COSTS])
    parser.add_argument(
        "--quick", action="store_true", help="a minute instead of a quarter of an hour; wide of the bars"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000_000)
    args = parser.parse_args()
    only = args.only or {*CALIBRATION, *COSTS} - (NOT_QUICK if args.quick else set())
    report = Report()
    print(f"Seed {args.seed}")
    # Costs are measured first, while no other process of the bench runs.
    for name in COSTS:
        if name in only:
            COSTS[name](report, args.seed)
    with ProcessPoolExecutor() as pool:
        simulator = calibration.Simulator(pool, np.random.SeedSequence(args.seed), QUICK if args.quick else 1)
        for name in CALIBRATION:
            if name in only:
                CALIBRATION[name](simulator, report)
    report.end()
    sys.exit(bool(report.missed))


if __name__ == "__main__":
    main()
