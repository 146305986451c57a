import pytest

from battles.templatetags.battles import seconds


@pytest.mark.parametrize(
    ("milliseconds", "shown"), [(4, "0.00 s"), (58, "0.06 s"), (180, "0.2 s"), (949, "0.9 s"), (1960, "2.0 s")]
)
def test_duration_is_rounded(milliseconds: int, shown: str):
    assert seconds(milliseconds) == shown
