"""Answers as models write them; how they are read was written down before the code that reads them."""

import string
from collections.abc import Iterable

import pytest

from benchmarks.scoring.ports import NOT_EXTRACTED
from tests.benchmarks.scoring import golden_choices as choices
from tests.benchmarks.scoring import golden_numbers as numbers
from tests.benchmarks.scoring.scoring_one import score

ROMAN = ("I", "II", "III", "IV")
CHOICES = {
    "letters": [({"choices": 4}, answer, read) for answer, read in choices.LETTERS],
    "texts": [({"choices": choices.CITIES}, answer, read) for answer, read in choices.TEXTS],
    "other texts": [({"choices": texts}, answer, read) for texts, answer, read in choices.OTHER_TEXTS],
    "labels": [
        (
            {"choices": 4, "labels": labels},
            answer,
            read and string.ascii_uppercase[ROMAN.index(read) if labels == "roman" else int(read) - 1],
        )
        for labels, answer, read in choices.LABELS
    ],
}
NUMBERS = {
    "numbers": ({}, numbers.NUMBERS),
    "decimal comma": ({"decimal_comma": True}, numbers.DECIMAL_COMMA),
    "words": ({"words": True}, numbers.WORDS),
    "words off": ({}, numbers.WORDS_OFF),
}


def differences(readings: Iterable[tuple[str, object, object]]) -> list[tuple[str, object, object]]:
    return [(answer[:80], read, wanted) for answer, read, wanted in readings if read != wanted]


@pytest.mark.parametrize("table", CHOICES)
def test_choice_reads_answers_as_people_do(table):
    readings = []
    for settings, answer, wanted in CHOICES[table]:
        verdict = score("choice", answer, [0] if "labels" not in settings else [1], settings)
        assert verdict.error == ""
        readings.append((answer, verdict.label, wanted or NOT_EXTRACTED))
    assert differences(readings) == []


@pytest.mark.parametrize("table", NUMBERS)
def test_number_reads_answers_as_people_do(table):
    settings, answers = NUMBERS[table]
    readings = []
    for answer, wanted in answers:
        verdict = score("number", answer, [wanted or "123454321"], settings | {"percent": "exact"})
        assert verdict.error == ""
        read = wanted if verdict.value == 1 else verdict.label or f"another: {verdict.detail}"
        readings.append((answer, read, wanted or NOT_EXTRACTED))
    assert differences(readings) == []


def test_number_of_target_is_read_alike():
    for target in ("1,00,000", r"\frac{1}{2}", "5 million", "6.02×10²³", "½", "minus 5"):
        assert score("number", target, [target]).value == 1
    assert score("number", "100000", ["1,00,000"]).value == 1
    assert [score("number", "5", [target]).error for target in ("COVID-19", "(5)", "3-5", "")] == ["scorer_failed"] * 4
