"""A prompt that is voted on again and again keeps its first votes."""

import pytest

from battles.labels.duplicates import further_repetitions, repetitions
from battles.models import Vote
from tests.leaderboard.ballots import cast, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def votes_on():
    """votes_on(digest, n): so many votes on one prompt, in order."""
    first, second = contestants("first", "second")

    def cast_votes(digest: str, n: int) -> list[Vote]:
        votes = [cast(first, second, "left") for _ in range(n)]
        Vote.objects.filter(pk__in=[vote.pk for vote in votes]).update(prompt_digest=digest)
        return votes

    return cast_votes


def orders() -> list[int]:
    return sorted(repetitions().values_list("order", flat=True))


def test_the_first_25_votes_stay(votes_on):
    votes_on("rare", 1)
    votes = votes_on("often", 28)
    assert orders() == [vote.order for vote in votes[25:]]
    repetitions().update(excluded_reason="duplicate_prompt")
    assert orders() == []


def test_25_votes_are_not_too_many(votes_on):
    votes_on("rare", 1)
    votes_on("often", 25)
    assert orders() == []


def test_only_the_most_frequent_prompts_are_repeated_too_often(votes_on):
    votes_on("often", 30)
    votes_on("as often", 30)
    votes_on("more often", 40)
    assert len(orders()) == 15


def test_where_every_prompt_is_as_frequent_none_is_repeated_too_often(votes_on):
    votes_on("one", 30)
    votes_on("another", 30)
    assert orders() == []


def test_counted_votes_are_found_too_and_those_set_aside_for_another_reason_take_no_place(votes_on):
    votes_on("rare", 1)
    votes = votes_on("often", 30)
    Vote.objects.filter(pk__in=[vote.pk for vote in votes[:4]]).update(excluded_reason="operator")
    Vote.objects.filter(order__lte=votes[-1].order).update(processing="processed")
    assert orders() == [votes[-1].order]


def test_votes_without_a_digest_repeat_nothing(votes_on):
    votes_on("", 40)
    votes_on("rare", 1)
    assert orders() == []


def test_who_goes_on_repeating_a_prompt_is_found_without_reading_all_votes(votes_on):
    votes_on("rare", 1)
    counted = votes_on("often", 28)
    assert not further_repetitions().exists()
    repetitions().update(excluded_reason="duplicate_prompt")
    Vote.objects.filter(order__lte=counted[-1].order).update(processing="processed")
    late = votes_on("often", 2)
    votes_on("rare", 1)
    assert list(further_repetitions().order_by("order")) == late


def test_an_arena_without_votes_repeats_nothing(db):
    assert orders() == []
