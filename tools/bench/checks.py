"""CPU time per check, in the worker and in the child: `make bench BENCH="--only checks"`."""

import time
from collections.abc import Callable

from benchmarks.scoring.check import Check
from benchmarks.scoring.child_process import ScoringChildren
from benchmarks.scoring.evaluation import evaluate
from benchmarks.scoring.ports import ScoredAnswer
from benchmarks.scoring.registry import prepare
from tools.bench.arena import Bench
from tools.bench.meter import cpu_seconds, pss_mb
from tools.bench.scenarios import print_row

ANSWER = ScoredAnswer(
    text="The capital of France is Paris, which lies on the Seine and has two million people. " * 3 + "Answer: B 42",
    tokens_out=50,
)
INLINE = [
    (Check(scorer="contains"), ["Paris"]),
    (Check(scorer="iequals"), ["paris"]),
    (Check(scorer="contains_all"), ["Paris", "Seine", "London"]),
    (Check(scorer="regex"), [r"\b\d+$"]),
    (Check(scorer="starts_with"), ["The"]),
    (Check(scorer="fuzzy"), [ANSWER.text[:200]]),
    (Check(scorer="choice"), ["B"]),
    (Check(scorer="number"), ["42"]),
    (Check(scorer="is_json"), []),
    (Check(scorer="words", settings={"max": 100}), []),
    (Check(scorer="refusal"), []),
    (Check(scorer="language", settings={"language": "en"}), []),
]
QUICK = ("contains", "iequals", "contains_all", "starts_with")
IN_CHILD = [
    (Check(scorer="expression", settings={"expression": "size(text) < 200"}), []),
    (Check(scorer="json_schema", settings={"schema": {"type": "object"}}), []),
    (Check(scorer="bleu"), [ANSWER.text]),
    (Check(scorer="rouge_l"), [ANSWER.text]),
]
# (target, answer): the numbers vary, so that caches of parsed formulas do not answer.
FORMULAS: list[Callable[[int], tuple[str, str]]] = [
    lambda n: (f"(x+{n})^2", f"$x^2+{2 * n}x+{n * n}$"),
    lambda n: (rf"\frac{{{n}}}{{{n + 1}}}", rf"So it is \boxed{{\frac{{{2 * n}}}{{{2 * n + 2}}}}}"),
    lambda n: (f"{n}", f"The answer is {n}."),
    lambda n: (rf"\{{{n}, {n + 1}\}}", rf"$\{{{n + 1}, {n}\}}$"),
    lambda n: (rf"\sqrt{{{n * n * 2}}}", rf"${n}\sqrt{{2}}$"),
]


def checks(bench: Bench | None = None) -> None:
    print("\nChecks: CPU time each")
    for check, target in INLINE:
        bar = "bar 30 µs" if check.scorer in QUICK else ""
        print_row(f"{check.scorer}, in the worker", f"{_inline_us(check, target):.1f} µs", bar)
    children = ScoringChildren(1)
    try:
        for check, target in IN_CHILD:
            child, own = _child_ms(children, [(check, target, ANSWER)] * 500)
            print_row(f"{check.scorer}, in the child", f"{child:.2f} ms", f"and {own:.2f} ms in the worker")
        jobs = [
            (Check(scorer="math"), [formula(n)[0]], ScoredAnswer(text=formula(n)[1]))
            for n in range(3, 23)
            for formula in FORMULAS
        ]
        child, own = _child_ms(children, jobs)
        print_row("math, in the child", f"{child / 1000:.3f} s", "bar 0.4 s")
        print_row("math checks a second and core", f"{1000 / child:.1f}", "bar 5")
        print_row("memory of the child", f"{pss_mb(children.pids()[0]):.0f} MB", "bar 200 MB")
    finally:
        children.close()


def _inline_us(check: Check, target: list[object], times: int = 3000) -> float:
    prepared = prepare(check)
    evaluate(prepared, ANSWER, target)
    began = time.process_time()
    for _ in range(times):
        evaluate(prepared, ANSWER, target)
    return (time.process_time() - began) / times * 1e6


def _child_ms(children: ScoringChildren, jobs: list[tuple[Check, list[object], ScoredAnswer]]) -> tuple[float, float]:
    """Return milliseconds of the child and of this process per check, after one that loads libraries."""
    verdict = children.score(jobs[0][0], jobs[0][2], jobs[0][1])
    assert verdict.value is not None, verdict
    [pid] = children.pids()
    child_began, own_began = cpu_seconds(pid), time.process_time()
    for check, target, answer in jobs:
        verdict = children.score(check, answer, target)
        assert verdict.value is not None, verdict
        assert check.scorer != "math" or verdict.passed, (target, answer)
    assert children.pids() == [pid], "a child was replaced: measure with fewer checks"
    return (
        (cpu_seconds(pid) - child_began) / len(jobs) * 1000,
        (time.process_time() - own_began) / len(jobs) * 1000,
    )


if __name__ == "__main__":
    checks()
