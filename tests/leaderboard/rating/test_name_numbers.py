import numpy as np
import pytest

from leaderboard.rating.ballots import ballots_of_names
from leaderboard.rating.name_numbers import NameNumbers
from leaderboard.rating.outcomes import OUTCOMES

ROWS = 40_000  # some blocks


def copies_of(names: list[str]) -> list[str]:
    """Return equal strings that are objects of their own."""
    return ["".join(list(name)) for name in names]


@pytest.mark.parametrize("models", [3, 3000, 30_000])
@pytest.mark.parametrize("copied", [[], ["first"], ["second"], ["first", "second"]])
def test_names_have_the_same_number_as_equal_names(models, copied):
    rng = np.random.default_rng(models)
    known = [f"organization/model-{index}" for index in range(models)]
    lists = {name: [known[index] for index in rng.integers(models, size=ROWS)] for name in ("first", "second")}
    numbers = NameNumbers()

    indices = {name: numbers.of(copies_of(names) if name in copied else names) for name, names in lists.items()}

    distinct = numbers.in_order()
    assert len(set(distinct)) == len(distinct)
    for name, names in lists.items():
        assert [distinct[index] for index in indices[name].tolist()] == names


def test_names_of_short_lived_objects_are_not_mixed_up():
    names = np.array([f"model-{index % 50}" for index in range(ROWS)])  # makes a new string at each access
    numbers = NameNumbers()
    indices = numbers.of(names).tolist()
    distinct = numbers.in_order()
    assert [distinct[index] for index in indices] == names.tolist()


def test_ballots_of_names_have_sorted_models_and_known_outcomes():
    ballots = ballots_of_names(["b", "a", "c"], ["a", "c", "b"], ["tie", "left", "both_bad"])
    assert ballots.counts.names == ["a", "b", "c"]
    assert (ballots.left.tolist(), ballots.right.tolist()) == ([1, 0, 2], [0, 2, 1])
    assert [OUTCOMES[index] for index in ballots.outcome.tolist()] == ["tie", "left", "both_bad"]
    assert (ballots.n.tolist(), ballots.voter.tolist(), ballots.counts.total) == ([1, 1, 1], [-1, -1, -1], 3)


def test_ballots_of_an_unknown_outcome_are_refused():
    with pytest.raises(KeyError, match="draw"):
        ballots_of_names(["a"], ["b"], ["draw"])


def test_ballots_of_no_names_are_empty():
    assert ballots_of_names([], [], []).counts.total == 0
