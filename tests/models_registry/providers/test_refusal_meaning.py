"""refusal_samples.jsonl: refusals as real servers word them, as [code, status, body]; status 0 is an error event."""

import json
from pathlib import Path
from typing import Any

import pytest

from models_registry.providers.refusals import error_for_event, error_for_status

SAMPLES = [
    json.loads(line) for line in Path(__file__).with_name("refusal_samples.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("code", "status", "body"), SAMPLES, ids=[f"{n}-{row[0]}" for n, row in enumerate(SAMPLES)])
def test_refusal_has_the_code_that_it_means(code: str, status: int, body: Any):
    if not status:
        assert error_for_event(body).code == code
        return
    text = body if isinstance(body, str) else json.dumps(body)
    assert error_for_status(status, text).code == code
    assert error_for_status(status, body).code == code


def test_prompt_repeated_in_error_decides_nothing():
    echoed = "the prompt exceeds the maximum context length; flagged by our content policy; insufficient credits"
    body = {"detail": [{"loc": ["body", "n"], "msg": "value is not an integer", "input": echoed}], "prompt": echoed}
    assert error_for_status(400, body).code == "rejected"


@pytest.mark.parametrize("body", ["[" * 100_000, {"error": {"message": 7}}, [[[]]], None, "\x00", {"error": None}])
def test_any_body_has_a_code(body: Any):
    assert error_for_status(400, body).code == "rejected"
    assert error_for_event(body).code == "provider_error"


def test_endless_words_are_read_in_little_time():
    words = "token input content blocked exceeded limit error " * 20_000
    assert error_for_status(400, {"error": {"message": words}}).code
