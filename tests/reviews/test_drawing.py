import random
from collections import Counter

import pytest

from reviews.drawing import Cell, draw_cell, gains_of_pairs, pairs_of


def test_all_pairs_are_each_pair_once():
    assert pairs_of([3, 1, 2], "all", seed="") == [(1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize("n", [4, 5, 10])
def test_regular_plan_is_connected_and_even(n: int):
    pairs = pairs_of(range(n), "regular", seed="a case")

    assert Counter(answer for pair in pairs for answer in pair) == dict.fromkeys(range(n), 2)
    reached = {0}
    for _step in range(n):
        reached |= {answer for pair in pairs if reached & set(pair) for answer in pair}
    assert reached == set(range(n))
    assert pairs == pairs_of(range(n), "regular", seed="a case")


def test_regular_plan_of_few_answers_is_all_pairs():
    assert [len(pairs_of(range(n), "regular", seed="")) for n in range(4)] == [0, 0, 1, 3]


def test_draw_has_the_frequencies_of_its_propensities():
    cells = [
        Cell(0, 1, 2, taken=0, room=4), Cell(1, 1, 2, taken=5, room=2), Cell(2, 1, 3, taken=0, room=5),
        Cell(3, 2, 3, taken=9, room=1),
    ]  # fmt: skip
    source = random.Random(7)
    draws = [draw_cell(cells, source=source) for _n in range(20_000)]

    propensities = {draw.cell.number: draw.propensity for draw in draws}
    assert propensities == pytest.approx({0: 0.45 / 4, 1: 0.05 / 2, 2: 0.45 / 5, 3: 0.05})
    assert sum(propensities[cell.number] * cell.room for cell in cells) == pytest.approx(1)
    assert {draw.cell.models: draw.pair_propensity for draw in draws} == pytest.approx(
        {(1, 2): 0.5, (1, 3): 0.45, (2, 3): 0.05}
    )
    drawn = Counter(draw.cell.number for draw in draws)
    for cell in cells:
        assert drawn[cell.number] / len(draws) == pytest.approx(propensities[cell.number] * cell.room, abs=0.012)


def test_adaptive_draw_prefers_pairs_that_tell_more():
    # One and two are known to be far apart, three was hardly asked.
    gains = gains_of_pairs([1, 2, 3], [(1, 2, 0.95, 200), (1, 3, 0.5, 2)])
    assert gains[1, 2] < gains[1, 3]
    assert gains[1, 2] < gains[2, 3]
    cells = [Cell(number, *pair, taken=0, room=1) for number, pair in enumerate(gains)]
    draws = [draw_cell(cells, gains, random.Random(seed)) for seed in range(2_000)]
    drawn = Counter(draw.cell.models for draw in draws)
    assert drawn[1, 2] / len(draws) == pytest.approx(0.8 * gains[1, 2] / sum(gains.values()) + 0.2 / 3, abs=0.03)
    assert gains_of_pairs([1, 2], []) == {(1, 2): pytest.approx(gains_of_pairs([5, 9], [])[5, 9])}
