import pytest
from django.template.loader import render_to_string

from common.errors import TooManyRequests


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "Try again in 1 second."),
        (90, "Try again in 90 seconds."),
        (121, "Try again in 3 minutes."),
        (7_200, "Try again in 120 minutes."),
        (7_201, "Try again in 3 hours."),
        (80_000, "Try again in 23 hours."),
    ],
)
@pytest.mark.parametrize("template", ["error.html#notice", "components/wait.html"])
def test_waiting_time_is_in_seconds_minutes_or_hours(template, seconds, words):
    assert words in render_to_string(template, {"error": TooManyRequests(retry_after=seconds)})
