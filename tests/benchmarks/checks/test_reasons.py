"""Reasons to refuse a check, for people."""

import msgspec
import pytest
from django.utils import translation

from benchmarks.checks.reasons import check_reason, error_sentence
from benchmarks.scoring.ports import Settings
from benchmarks.scoring.refusals import SENTENCES, Refusal, read_refusal
from benchmarks.scoring.registry import errors_of_checks
from tests.benchmarks.scoring.scoring_one import registry


@pytest.mark.parametrize("code", SENTENCES.keys() - {"other"})
def test_every_reason_of_a_check_is_translated(code: str):
    names = "text name groups group pattern reason line column depth key value limit wanted given"
    refusal = Refusal(code, **dict.fromkeys(names.split(), "1"))
    assert check_reason(refusal) == str(refusal)
    with translation.override("fr"):
        assert check_reason(refusal) != str(refusal)


def test_reasons_name_the_setting_and_its_place():
    [missing] = errors_of_checks([{"scorer": "latency"}], registry.errors)
    assert check_reason(missing) == "The setting “max_ms” is missing."
    [unknown] = errors_of_checks([{"scorer": "equals", "wieght": 1}], registry.errors)
    with translation.override("fr"):
        assert check_reason(unknown) == "Il n’existe pas de réglage «\u00a0wieght\u00a0»."
    [placed] = errors_of_checks([{"scorer": "choice", "settings": {"choices": 1}}], registry.errors)
    assert error_sentence(placed) == "checks[0]: choices: A number >= 2 is needed."


def test_reasons_keep_what_plug_ins_say():
    class PlugInSettings(Settings, frozen=True):
        moon: int

        def __post_init__(self) -> None:
            raise ValueError("100 % of the moon is full")

    assert check_reason(read_refusal(ValueError("100 % of the moon is full"))) == "100 % of the moon is full"
    with pytest.raises(ValueError) as raised:
        msgspec.convert({"moon": 1}, PlugInSettings)
    assert check_reason(read_refusal(raised.value)) == "100 % of the moon is full"
