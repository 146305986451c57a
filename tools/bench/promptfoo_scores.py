"""Scores of promptfoo and of the arena for the same answers; alone: `python -m tools.bench.promptfoo_scores`."""

import csv
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import django
import msgspec
import yaml

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
django.setup()

from benchmarks.actions.importing import _raw_checks, read_import  # noqa: E402
from benchmarks.checks.check_set import case_checks  # noqa: E402
from benchmarks.checks.targets import without_templates  # noqa: E402
from benchmarks.editing.trials import _rendered  # noqa: E402
from benchmarks.imports import content  # noqa: E402
from benchmarks.models import Case  # noqa: E402
from benchmarks.scoring.check import Check  # noqa: E402
from benchmarks.scoring.child_process import ScoringChildren  # noqa: E402
from benchmarks.scoring.item_checks import score_item  # noqa: E402
from benchmarks.scoring.item_score import item_score  # noqa: E402
from benchmarks.scoring.ports import ScoredAnswer  # noqa: E402
from benchmarks.scoring.registry import errors_of_checks, prepare  # noqa: E402
from tools.bench.arena import Bench  # noqa: E402
from tools.bench.peer_programs import PeerSkipped, skips  # noqa: E402
from tools.bench.peers import FOLDER, MODULES, peer_environment  # noqa: E402

# Why a score differs; docs/benchmarks-import.md says the same.
EXCEPTIONS = {
    "outer space": "the arena compares texts without outer space",
    "Unicode form": "the arena compares texts in Unicode's NFC",
    "letter case": "the arena folds case, so that ß equals SS; promptfoo takes the lower case",
    "list in a variable": "promptfoo splits at commas after it put in variables, the arena before",
    "patterns": "RE2 sees characters and ASCII space, JavaScript sees UTF-16 and Unicode's space",
    "pattern left out": "RE2 refuses the pattern: the report of the import lists its line",
    "kinds of JSON": "promptfoo finds objects only, also those that are no strict JSON",
    "document type": "the arena refuses a document type",
    "edits of characters": "promptfoo counts UTF-16 units, the arena characters",
    "smoothing": "without a match of an order BLEU is 0; promptfoo's is at most a few hundredths",
    "threshold in a cell": "promptfoo takes no threshold of bleu in a cell of a table",
    "rouge": "rouge-n becomes rouge_l, which minds the order of words",
    "refusals": "each has its own phrases; the arena's are also French, and nothing is no refusal",
    "not measured": "what was not measured is left out of the score, not wrong",
    "nothing to score": "without a check that counts, an item has no score",
}
PROVIDER = """
import {readFileSync} from "node:fs";
const answers = JSON.parse(readFileSync(new URL("answers.json", import.meta.url)));
export default class Given {
  id() { return "given"; }
  async callApi(prompt, {vars}) { return answers[vars.key] ?? {output: "Paris"}; }
}
"""
_FACTS = {"cost": "cost", "finish_reason": "finishReason", "total_ms": "latencyMs"}
TOLERANCE = 1e-9
Result = tuple[bool | None, float | None]


@dataclass(frozen=True)
class Scored:
    """One answer and what is expected of it: a test of promptfoo, or cells of a table."""

    key: str
    row: str
    expected: str
    answer: ScoredAnswer
    test: dict[str, object] | None = None
    cells: tuple[str, ...] = ()
    differs: str = ""


def promptfoo_scores(bench: Bench | None = None) -> None:
    with skips("promptfoo"):
        _compare_scores(bench)


def _compare_scores(bench: Bench | None) -> None:
    """Raises PeerSkipped, and SystemExit for scores that differ without a reason."""
    if not MODULES.exists():
        raise PeerSkipped(f"it is not in {FOLDER}: `make bench-peers` installs it.")
    scored = list(_read_cases())
    with TemporaryDirectory() as name:
        directory = Path(name)
        _write_files(directory, scored)
        theirs = _their_scores(directory)
        ours = _our_scores(directory, scored)
        unexplained = _compare(scored, ours, theirs)
        refused = _refused_exports(bench, directory) if bench else 0
    if unexplained or refused:
        sys.exit(f"{unexplained} scores differ without a reason, {refused} exported templates are refused.")


def _read_cases() -> Iterator[Scored]:
    rows = yaml.safe_load(Path(__file__).with_name("promptfoo_cases.yaml").read_text())
    number = 0
    for row in rows:
        for given in row.get("cases") or row["cells"]:
            for expected, test in _tests(row["row"], given):
                for answer in given["answers"]:
                    number += 1
                    facts = dict(answer) if isinstance(answer, dict) else {"text": answer}
                    differs = facts.pop("differs", None) or ""
                    answered = ScoredAnswer(**facts | {"text": str(facts["text"])})
                    cells = () if test else (given["cell"], given.get("second", ""), given.get("threshold", ""))
                    yield Scored(f"k{number}", row["row"], expected, answered, test, cells, differs)


def _tests(kind: str, given: dict[str, object]) -> Iterator[tuple[str, dict[str, object] | None]]:
    """Yield a case's tests: as it is, and for a single assertion its opposite."""
    if "cell" in given:
        yield ", ".join(str(given[name]) for name in ("cell", "second", "threshold") if name in given), None
        return
    asserted = given.get("assert", {})
    if isinstance(asserted, list):
        lists = [asserted]
    else:
        lists = [[{"type": f"{sign}{kind}", **asserted}] for sign in ("", "not-")]
    others = {name: given[name] for name in ("threshold", "vars") if name in given}
    for assertions in lists:
        yield json.dumps(assertions, ensure_ascii=False), {**others, "assert": assertions}


def _write_files(directory: Path, scored: Sequence[Scored]) -> None:
    tests: list[object] = [
        {**case.test, "description": case.key, "vars": {"key": case.key, **case.test.get("vars", {})}}
        for case in scored
        if case.test is not None
    ]
    config = {
        "prompts": ["{{ key }}"],
        "providers": ["file://provider.mjs"],
        "tests": [*tests, "file://cells.csv"],
    }
    cells = io.StringIO()
    writer = csv.writer(cells)
    writer.writerow(["key", "__description", "__expected1", "__expected2", "__threshold"])
    writer.writerows([case.key, case.key, *case.cells] for case in scored if case.cells)
    answers = {
        case.key: {
            "output": case.answer.text,
            **{
                name: value
                for field, name in _FACTS.items()
                if (value := getattr(case.answer, field)) not in (None, "")
            },
        }
        for case in scored
    }
    (directory / "promptfoo.json").write_text(json.dumps(config))
    (directory / "cells.csv").write_text(cells.getvalue())
    (directory / "answers.json").write_text(json.dumps(answers))
    (directory / "provider.mjs").write_text(PROVIDER)


def _promptfoo(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(MODULES / ".bin/promptfoo"), *arguments]
    return subprocess.run(command, cwd=directory, env=peer_environment(directory), capture_output=True, text=True)


def _evaluate(directory: Path, config: str) -> list[dict[str, object]]:
    output = directory / "scores.json"
    output.unlink(missing_ok=True)
    flags = ("--no-cache", "--no-table", "--no-progress-bar", "--no-write", "--no-share")
    ended = _promptfoo(directory, "eval", "-c", config, "-o", str(output), *flags)
    if not output.exists():
        raise PeerSkipped(f"it ended with exit code {ended.returncode}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
    return json.loads(output.read_text())["results"]["results"]


def _their_scores(directory: Path) -> dict[str, Result]:
    """Return (passed, score) by key; (None, None) for an assertion that promptfoo refuses."""
    return {
        result["testCase"]["description"]: (result["success"], result["score"])
        if result["failureReason"] != 2
        else (None, None)
        for result in _evaluate(directory, "promptfoo.json")
    }


def _our_scores(directory: Path, scored: Sequence[Scored]) -> dict[str, Result]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name in ("promptfoo.json", "cells.csv"):
            file.write(directory / name, name)
    imported = read_import(archive.getvalue(), content.Request("promptfoo.zip"))
    if imported.template is None:
        sys.exit(f"The arena refuses the file: {imported.entries}")
    answers = {case.key: case.answer for case in scored}
    children = ScoringChildren(1)
    try:
        shared = _raw_checks(imported.template.checks)
        return {case.key: _our_score(shared, case, answers[case.key], children) for case in imported.template.cases}
    finally:
        children.close()


def _our_score(
    shared: list[dict[str, object]], case: content.Case, answer: ScoredAnswer, children: ScoringChildren
) -> Result:
    """Return (None, None) also for checks that are refused when a version is frozen."""
    raw = case_checks(shared, _raw_checks(case.checks))
    if errors_of_checks([without_templates(check) for check in raw], children.errors):
        return None, None
    row = Case(key=case.key, variables=case.variables, expected=case.expected)
    checks = [msgspec.convert(check, Check) for check in _rendered(raw, row)]
    verdicts = score_item([prepare(check) for check in checks], [case.expected] * len(checks), answer, children)
    score = item_score(checks, verdicts, case.threshold)
    return score.passed, score.score


def _compare(scored: Sequence[Scored], ours: dict[str, Result], theirs: dict[str, Result]) -> int:
    """Print a row for each assertion type and each difference; return the number of those without a reason."""
    print(f"{'assertion':<24}{'answers':>8}{'equal pass':>12}{'equal score':>13}{'explained':>11}")
    unexplained = 0
    for row in dict.fromkeys(case.row for case in scored):
        own = [case for case in scored if case.row == row]
        passes = [ours[case.key][0] == theirs[case.key][0] for case in own]
        scores = [_is_same(ours[case.key][1], theirs[case.key][1]) for case in own]
        differing = [case for case, *same in zip(own, passes, scores, strict=True) if not all(same)]
        explained = sum(bool(case.differs) for case in differing)
        print(f"{row:<24}{len(own):>8}{sum(passes):>12}{sum(scores):>13}{explained:>11}")
        for case in differing:
            reason = EXCEPTIONS[case.differs] if case.differs else "NO REASON"
            print(
                f"    {case.answer.text!r}, {case.expected}: ours {ours[case.key]}, theirs {theirs[case.key]}: {reason}"
            )
        unexplained += len(differing) - explained
    used_exceptions = {case.differs for case in scored if ours[case.key] != theirs[case.key]}
    for name in EXCEPTIONS.keys() - used_exceptions:
        print(f"No score differs any more by {name!r}.")
        unexplained += 1
    return unexplained


def _is_same(left: float | None, right: float | None) -> bool:
    return left == right if left is None or right is None else abs(left - right) <= TOLERANCE


EXPORTS = """
from pathlib import Path
from benchmarks.built_in.reading import LANGUAGES, NAMES
from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.models import TemplateVersion
versions = TemplateVersion.objects.filter(state="frozen", template__visibility="site").order_by("pk")
assert versions.count() == len(NAMES) * len(LANGUAGES)
for version in versions:
    path = Path({directory!r}, version.template.slug + ".yaml")
    path.write_bytes(b"".join(PromptfooExport(version).chunks()))
    print(path.name, version.case_count * version.prompts.count())
"""


def _refused_exports(bench: Bench, directory: Path) -> int:
    """Print a row for each built-in template that promptfoo reads; return the number of those that it refuses."""
    refused = 0
    for line in bench.arena.shell(EXPORTS.format(directory=str(directory))).splitlines():
        name, answers = line.split()
        with (directory / name).open("a") as file:  # a template names no models
            file.write("providers:\n- file://provider.mjs\n")
        validated = _promptfoo(directory, "validate", "config", "-c", name)
        results = _evaluate(directory, name)
        errors = [result["error"] for result in results if result["failureReason"] == 2]
        is_accepted = not validated.returncode and not errors and len(results) == int(answers)
        print(f"{name:<24}{len(results):>8} answers of {answers}: {'accepted' if is_accepted else 'REFUSED'}")
        if not is_accepted:
            print(validated.stdout[-1000:], validated.stderr[-1000:], *errors[:3], sep="\n")
        refused += not is_accepted
    return refused


if __name__ == "__main__":
    promptfoo_scores()
