"""A prompt that is voted on again and again keeps its first votes."""

import pytest

from accounts.actor import Actor
from battles import actions
from battles.labels.duplicates import repetitions
from battles.labels.labelling import label
from battles.models import Answer, Battle, Turn, Vote
from battles.text.prompt_digest import prompt_digest
from leaderboard.models import EloRating
from tests import make
from tests.leaderboard.vote_factory import cast, contestants

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


def vote_on(*prompts: str) -> Vote:
    battle = make.answered_battle(make.model(), make.model())
    battle.turns.update(prompt=prompts[0])
    for prompt in prompts[1:]:
        make.turn(battle, prompt=prompt)
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="an answer")
    Battle.objects.filter(pk=battle.pk).update(**label(prompts[:1]))
    actor = Actor(visitor=battle.session.owner_visitor, network="127.0.0.1")
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)


def test_who_goes_on_repeating_a_prompt_is_told_with_the_vote(votes_on):
    assert vote_on("Hello!").counts
    votes_on("rare", 1)
    votes_on(prompt_digest(["hello"]), 28)
    repetitions().update(excluded_reason="duplicate_prompt")
    late = vote_on("hello")
    assert (late.excluded_reason, late.counts) == ("duplicate_prompt", False)
    assert not EloRating.objects.filter(model=late.model_left).exists()
    assert vote_on("hello", "Which of the two is the older word?").counts
    assert vote_on("Good morning").counts


def test_an_arena_without_votes_repeats_nothing(db):
    assert orders() == []
