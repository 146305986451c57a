import pytest

from accounts.actor import Actor
from battles import actions
from battles.labels.duplicates import excess_duplicates
from battles.labels.labelling import label
from battles.models import Answer, Battle, Turn, Vote
from battles.text.prompt_digest import prompt_digest
from leaderboard.models import EloRating
from tests import make
from tests.leaderboard.vote_factory import cast, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast_votes_on():
    """Return a function (digest, n) that casts n votes on one prompt."""
    first, second = contestants("first", "second")

    def cast_votes(digest: str, n: int) -> list[Vote]:
        votes = [cast(first, second, "left") for _ in range(n)]
        Vote.objects.filter(pk__in=[vote.pk for vote in votes]).update(prompt_digest=digest)
        return votes

    return cast_votes


def excess_orders() -> list[int]:
    return sorted(excess_duplicates().values_list("order", flat=True))


def test_first_25_votes_count(cast_votes_on):
    cast_votes_on("rare", 1)
    votes = cast_votes_on("often", 28)
    assert excess_orders() == [vote.order for vote in votes[25:]]
    excess_duplicates().update(excluded_reason="duplicate_prompt")
    assert excess_orders() == []


def test_25_votes_are_not_excess(cast_votes_on):
    cast_votes_on("rare", 1)
    cast_votes_on("often", 25)
    assert excess_orders() == []


@pytest.mark.slow
def test_only_most_frequent_prompt_is_overused(cast_votes_on):
    cast_votes_on("often", 30)
    cast_votes_on("as often", 30)
    cast_votes_on("more often", 40)
    assert len(excess_orders()) == 15


def test_equally_frequent_prompts_are_not_overused(cast_votes_on):
    cast_votes_on("one", 30)
    cast_votes_on("another", 30)
    assert excess_orders() == []


def test_votes_excluded_otherwise_are_not_repetitions(cast_votes_on):
    cast_votes_on("rare", 1)
    votes = cast_votes_on("often", 30)
    Vote.objects.filter(pk__in=[vote.pk for vote in votes[:4]]).update(excluded_reason="operator")
    assert excess_orders() == [votes[-1].order]


def test_votes_without_digest_are_not_duplicates(cast_votes_on):
    cast_votes_on("", 40)
    cast_votes_on("rare", 1)
    assert excess_orders() == []


def cast_vote_on(*prompts: str) -> Vote:
    battle = make.answered_battle(make.model(), make.model())
    battle.turns.update(prompt=prompts[0])
    for prompt in prompts[1:]:
        make.turn(battle, prompt=prompt)
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="an answer")
    Battle.objects.filter(pk=battle.pk).update(**label(prompts[:1]))
    actor = Actor(visitor=battle.session.owner_visitor, network="127.0.0.1")
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)


@pytest.mark.slow
def test_later_vote_on_overused_prompt_is_excluded(cast_votes_on):
    assert cast_vote_on("Hello!").counts
    cast_votes_on("rare", 1)
    cast_votes_on(prompt_digest(["hello"]), 28)
    excess_duplicates().update(excluded_reason="duplicate_prompt")
    late = cast_vote_on("hello")
    assert (late.excluded_reason, late.counts) == ("duplicate_prompt", False)
    assert not EloRating.objects.filter(model=late.model_left).exists()
    assert cast_vote_on("hello", "Which of the two is the older word?").counts
    assert cast_vote_on("Good morning").counts


def test_no_votes_have_no_duplicates(db):
    assert excess_orders() == []
