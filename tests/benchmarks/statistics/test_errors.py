"""Errors of the model are wrong answers; every other one leaves a score missing."""

import pytest

from benchmarks.models.entrant_calls import WITHOUT_TEXT
from benchmarks.statistics.recompute import inputs_from_rows
from benchmarks.statistics.rows import WRONG_ERRORS, ItemRow
from benchmarks.statistics.scores import Kind
from models_registry.providers import FailureCode

WRONG = {"empty", "only_reasoning", "no_room", "filtered", "answer_too_long", "tool_calls"}


@pytest.mark.parametrize("error", sorted(FailureCode))
def test_error_is_wrong_or_missing(error: str):
    row = ItemRow(
        run="run", template="template", version_digest="v1", case_key="a", case_digest="a", entrant="000", model="m",
        repeat=0, state="failed", error=error,
    )  # fmt: skip
    assert inputs_from_rows([row]).kinds[0, 0, 0] == (Kind.WRONG if error in WRONG else Kind.MISSING)


def test_every_answer_without_text_is_wrong():
    assert set(map(str, WITHOUT_TEXT)) <= WRONG_ERRORS
