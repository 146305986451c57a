import re
import subprocess
import sys

from tools.bench.ratings.report import Report

ROW = re.compile(r"^ +(?P<label>\S.*?) {2,}(?P<seconds>[\d.]+) s +bar (?P<bar>[\d.]+) s", re.MULTILINE)


def aggregation(report: Report, seed: int) -> None:
    """Report `make bench BENCH="--only aggregation"`, which starts an arena and takes some minutes."""
    report.heading("Aggregation into 1,000,000 votes on 300 models and 16 boards, wall-clock time of a run")
    command = [sys.executable, "-m", "tools.bench", "--only", "aggregation"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, check=True)
    rows = list(ROW.finditer(done.stdout))
    for row in rows:
        is_held = float(row["seconds"]) <= float(row["bar"])
        report.row(row["label"], f"{row['seconds']} s", f"bar {row['bar']} s", held=is_held)
    _, heading, profile = done.stdout.partition("Profile of one more run")
    print(heading + profile.partition("Memory afterwards")[0].rstrip(), flush=True)
    if not rows:
        report.row("no figures", "", held=False)
