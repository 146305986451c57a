"""Each oddity of tests/worlds/oddities.py is read to the same end at every cut."""

import pytest

from tests.models_registry.providers.odd_answers import PAGE, page
from tests.models_registry.providers.reading import read
from tests.provider_streams import END, text
from tests.worlds.oddities import ODDITIES, Odd

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


def test_text_is_taken_back_from_the_first_answer_only():
    """A model whose tag is opened by its prompt is held back afterwards, until an answer closes none."""
    unopened = [text("Hm, a river.\n"), text("</think>\n\n"), text("The Rhine."), END]
    plain = [text("The Rhine."), END]
    read([])  # forgets
    got = [read(pieces, remembers=True) for pieces in (unopened, unopened, plain, unopened)]
    assert [(answer.text, answer.reasoning, answer.taken_back) for answer in got] == [
        ("The Rhine.", "Hm, a river.\n", 1), ("The Rhine.", "Hm, a river.\n", 0), ("The Rhine.", "", 0),
        ("The Rhine.", "Hm, a river.\n", 1),
    ]  # fmt: skip


def test_page_of_odd_answers_is_current():
    assert PAGE.read_text() == page(), "python -m tests.models_registry.providers.odd_answers"
