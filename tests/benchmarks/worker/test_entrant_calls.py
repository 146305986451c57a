"""Failures of an entrant's calls: when it rests, for how long, and when nothing is asked any more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchmarks.models import Entrant, entrant_calls
from benchmarks.models.entrant_calls import calls_at_once, note_ends
from models_registry.providers import FailureCode


@pytest.mark.parametrize(
    ("error", "failures"),
    [
        ("first_timeout", 1), ("total_timeout", 1), ("provider_error", 3), ("cut", 3), ("unreachable", 3),
        ("empty", 5), ("only_reasoning", 5), ("no_room", 5), ("rejected", 5), ("tool_calls", 5),
    ],
)  # fmt: skip
def test_entrant_rests_after_failures_in_a_row(error: str, failures: int):
    entrant, now = Entrant(), timezone.now()
    for number in range(1, failures + 1):
        note_ends(entrant, [(FailureCode(error), None)])
        assert (entrant.failures, entrant.next_try_at is not None) == (number, number == failures)
    assert calls_at_once(entrant, now) == 0
    assert calls_at_once(entrant, now + timedelta(hours=2)) == 1
    note_ends(entrant, [(None, None)])
    assert (calls_at_once(entrant, now), entrant.failures, entrant.cooldowns) == (256, 0, 0)


def test_each_rest_is_longer():
    entrant, rests = Entrant(), []
    for _ in range(4):
        before = timezone.now()
        note_ends(entrant, [(FailureCode.FIRST_TIMEOUT, None)])
        rests.append(round((entrant.next_try_at - before).total_seconds()))
        entrant.next_try_at = before
    assert rests == [30, 60, 120, 240]


@pytest.mark.parametrize("error", ["prompt_too_long", "filtered", "interrupted", "over_budget", "rate_limited"])
def test_failure_of_one_prompt_or_of_the_pace_is_not_counted(error: str):
    entrant = Entrant()
    assert not note_ends(entrant, [(FailureCode(error), None)] * 9)
    assert (entrant.failures, entrant.next_try_at) == (0, None)


def test_long_retry_after_is_waited_for_without_a_failure():
    entrant, before = Entrant(), timezone.now()
    note_ends(entrant, [(FailureCode.RATE_LIMITED, 300.0)])
    assert entrant.failures == 0
    assert 299 < (entrant.next_try_at - before).total_seconds() < 310


@pytest.mark.parametrize(
    ("error", "since", "halted"),
    [
        ("refused_key", timedelta(0), "refused_key"), ("no_key", timedelta(0), "no_key"),
        ("cut", entrant_calls.MAX_AWAY - timedelta(minutes=1), ""), ("cut", entrant_calls.MAX_AWAY, "models_away"),
    ],
)  # fmt: skip
def test_nothing_is_asked_after_half_an_hour_or_a_refused_key(error: str, since: timedelta, halted: str):
    assert timedelta(minutes=30) == entrant_calls.MAX_AWAY
    entrant = Entrant(failures=1, failing_since=timezone.now() - since)
    note_ends(entrant, [(FailureCode(error), None)])
    assert entrant.halted == halted
