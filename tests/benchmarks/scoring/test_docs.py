import re

import msgspec
from django.conf import settings

from benchmarks.scoring.registry import BUILT_IN, errors_of_checks
from tests.benchmarks.scoring.scoring_one import registry

TEXT = (settings.BASE_DIR / "docs" / "benchmarks.md").read_text()


def test_docs_name_every_scorer_and_setting():
    names = {*BUILT_IN, *(field for scorer in BUILT_IN.values() for field in scorer.settings.__struct_fields__)}
    assert names - set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`[^`\n]+`", TEXT)))) == set()


def test_examples_of_checks_in_docs_are_accepted():
    examples = [
        *re.findall(r"```json\n(.+?)```", TEXT, re.DOTALL),
        *re.findall(r"^`(\{\"scorer.+\})`$", TEXT, re.MULTILINE),
    ]
    assert len(examples) == 4
    assert errors_of_checks([msgspec.json.decode(example) for example in examples], registry.errors) == []
