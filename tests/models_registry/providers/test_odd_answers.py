"""Each oddity of tests/models_registry/providers/oddities.py is read to the same end at every cut."""

import pytest

from tests.models_registry.providers.oddities import ODDITIES, Odd
from tests.models_registry.providers.reading import read

CODES_OF_CALLERS = {"empty", "only_reasoning", "no_room"}


@pytest.mark.parametrize("odd", ODDITIES.values(), ids=ODDITIES)
@pytest.mark.parametrize("size", [1_000_000, 1, 7, 64])
def test_odd_answer_has_its_end_at_every_cut(odd: Odd, size: int):
    if len(odd.body) > 10_000 and size < 64:
        size = 64
    pieces = [odd.body[at : at + size] for at in range(0, len(odd.body), size)]
    got = read(pieces, encoding=odd.headers.get("Content-Encoding", ""), broken_off=odd.breaks_off)
    wanted = "" if odd.code in CODES_OF_CALLERS else odd.code  # a caller decides about an answer without text
    assert (got.code, got.text, got.reasoning) == (wanted, odd.text, odd.reasoning), got.upstream
    assert odd.code == "filtered" or got.completion.finish_reason == odd.finish
