import os
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.scoring import child_process
from benchmarks.scoring.check import Check
from benchmarks.scoring.child_process import ScoringChildren, waited_for_processor_s
from benchmarks.scoring.ports import ScoredAnswer, Verdict
from tests.waiting import wait_for

pytestmark = pytest.mark.processes

DIGITS = "[1,2,3,4,5,6,7,8,9,0]"
CEL_LOOP = "text == 'a' || " + "".join(f"{DIGITS}.all({name}, " for name in "abcdefghij") + "a >= 0" + ")" * 10
DOUBLING = {
    "$defs": {
        **{f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)},
        "s40": {"type": "string"},
    },
    "$ref": "#/$defs/s0",
}
ENTITIES = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;&c;</a>'


@pytest.fixture(scope="module")
def children() -> Iterator[ScoringChildren]:
    children = ScoringChildren(1, timeout_s=1.0)
    yield children
    children.close()


def score(children: ScoringChildren, scorer: str, text: str, *target: str, **settings: object) -> Verdict:
    return children.score(Check(scorer=scorer, settings=settings), ScoredAnswer(text=text), list(target))


@pytest.mark.parametrize(
    ("scorer", "text", "target", "settings"),
    [
        ("math", "$9^{9^{9^9}}$", ["42"], {}),
        ("math", "42", ["9^{9^{9^9}}"], {}),
        ("json_schema", "1", [], {"schema": DOUBLING}),
        ("expression", "b", [], {"expression": CEL_LOOP}),
        ("ter", "a b c d e " * 3000, ["e d c b a " * 3000], {}),
    ],
    ids=["answer", "target", "schema", "expression", "words"],
)
def test_bomb_is_unscored_and_next_check_is_not(children, scorer, text, target, settings):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = score(children, scorer, text, *target, **settings)
    assert (verdict.value, verdict.passed) == (None, None)
    assert verdict.error in ("scorer_timeout", "scorer_failed")
    assert score(children, "rouge_l", "a b", "a b").value == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


def test_deep_and_entity_bombs_are_wrong(children: ScoringChildren):
    rows = [("is_xml", ENTITIES, {}), ("is_json", "[" * 500_000, {}), ("is_xml", "<a>" * 100_000, {})]
    assert [score(children, name, text, **settings).value for name, text, settings in rows] == [0, 0, 0]


def test_refusals_come_from_the_child(children: ScoringChildren):
    [error] = children.errors(Check(scorer="expression", settings={"expression": "1 +"}), "checks[0]")
    assert (error.position, error.code, error.places) == ("checks[0]", "expression_error", ())
    assert (error.values["line"], error.values["column"]) == ("1", "4")
    assert children.errors(Check(scorer="expression", settings={"expression": "true"}), "checks[0]") == []
    # Settings that only the child reads are refused there, not scored.
    assert score(children, "expression", "a", expression="1 +").error == "scorer_failed"


def test_killed_child_is_replaced_and_runs_at_lower_priority(children: ScoringChildren):
    assert score(children, "rouge_l", "a", "a").value == 1
    pid = children.pids()[0]
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    os.kill(pid, signal.SIGKILL)
    assert score(children, "rouge_l", "a", "a").value == 1
    assert children.pids() != [pid]


def test_waits_for_a_processor_do_not_count(children: ScoringChildren, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(child_process, "LOADING_TIMEOUT_S", 1e-6)
    for child in children._children:
        monkeypatch.setattr(child, "_timeout_s", 1e-6)
    assert score(children, "rouge_l", "a", "a").error == "scorer_timeout"
    monkeypatch.setattr(child_process, "waited_for_processor_s", lambda pid: 1000 * time.monotonic())
    assert score(children, "rouge_l", "a", "a").value == 1


def test_kernel_says_how_long_a_process_waited():
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for process in busy:
            os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        wait_for(lambda: waited_for_processor_s(busy[0].pid) > 0.05)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert waited_for_processor_s(busy[0].pid) == 0  # it has ended


def test_scoring_imports_no_heavy_library_in_its_owner():
    code = (
        "import sys, benchmarks.scoring.child_process, benchmarks.scoring.registry, benchmarks.scoring.item_checks;"
        "print([name for name in ('django', 'cel', 'sympy', 'sacrebleu', 'lxml', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.fixture
def plugin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder on the child's path with the example package as pip would install it, and three packages that fail."""
    example = settings.BASE_DIR / "examples" / "scorer_plugin"
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    [module] = example.glob("*.py")
    (tmp_path / module.name).write_text(module.read_text())
    (tmp_path / "old.py").write_text("class Old:\n    name = 'old'\n    port_version = 0\n")
    (tmp_path / "ending.py").write_text("import os\nos._exit(1)\n")
    names = {
        **project["entry-points"]["arena.scorers"], "old": "old:Old", "absent": "absent_module:Absent",
        "equals": "old:Old", "ending": "ending:Ending",
    }  # fmt: skip
    information = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {value}" for name, value in names.items()]
    (information / "entry_points.txt").write_text("\n".join(["[arena.scorers]", *lines]))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("plugin_folder")
def test_example_plugin_scores_and_failing_ones_are_listed():
    named = ("short_sentences", "old", "absent", "equals", "missing")
    children = ScoringChildren(1, plugins=named)
    try:
        loaded, *failed = children.plugins()
        assert (loaded.name, loaded.distribution, loaded.version, loaded.error) == (
            "short_sentences", "arena-short-sentences", "1", "",
        )  # fmt: skip
        assert [(state.name, state.error) for state in failed] == [
            ("old", "the plug-in old is made for version 0 of the port, not 1"),
            ("absent", "the plug-in absent does not load: ModuleNotFoundError: No module named 'absent_module'"),
            ("equals", "the plug-in equals has the name of a built-in scorer"),
            ("missing", "the plug-in missing is not installed"),
        ]
        verdict = score(children, "short_sentences", "One two. One two three!", max_words=2)
        assert (verdict.value, verdict.passed, verdict.detail) == (0.5, False, "longest: 3")
        assert score(children, "short_sentences", "").error == "scorer_failed"
        [error] = children.errors(Check(scorer="short_sentences", settings={"max_words": 0}), "checks[0]")
        assert (error.code, error.values) == ("other", {"text": "max_words is at least 1"})
    finally:
        children.close()


@pytest.mark.usefixtures("plugin_folder")
def test_unnamed_plugin_is_unknown_and_ending_one_is_off():
    children = ScoringChildren(1, plugins=["ending"])
    try:
        assert score(children, "short_sentences", "One.").detail == "There is no comparison 'short_sentences'."
        [state] = children.plugins()
        assert state.error == "a plug-in hangs or ends its process"
        assert score(children, "rouge_l", "a", "a").value == 1
    finally:
        children.close()
