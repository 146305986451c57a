"""Reasons to refuse a check, for people."""

import pytest
from django.utils import translation

from benchmarks.checks.reasons import check_reason
from benchmarks.scoring.check import Check, CheckError
from benchmarks.scoring.registry import errors_of_checks
from tests.benchmarks.scoring.scoring_one import registry
from tests.benchmarks.scoring.test_refused_checks import BAD_CHECKS


def ask_child(check: Check, position: str) -> list[CheckError]:
    return registry.errors(check, position)


@pytest.mark.parametrize("check", [check for check, _message in BAD_CHECKS], ids=lambda check: str(check)[:40])
def test_every_reason_of_a_check_is_translated(check: dict[str, object]):
    [error] = errors_of_checks([check], ask_child)
    english = check_reason(error.message)
    assert english != error.message
    with translation.override("fr"):
        assert check_reason(error.message) != english


def test_reasons_name_the_setting_and_keep_what_plug_ins_say():
    [missing] = errors_of_checks([{"scorer": "latency"}], ask_child)
    assert check_reason(missing.message) == "The setting “max_ms” is missing."
    [unknown] = errors_of_checks([{"scorer": "equals", "wieght": 1}], ask_child)
    with translation.override("fr"):
        assert check_reason(unknown.message) == "Il n’existe pas de réglage «\u00a0wieght\u00a0»."
    assert check_reason("100 % of the moon is full") == "100 % of the moon is full"
