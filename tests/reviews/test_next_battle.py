from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.actor import Actor
from battles import actions as battle_actions
from battles.models import Battle, Call, Side, Vote
from models_registry.models import LanguageModel
from reviews import actions
from reviews.errors import ReviewTakesNoVotes
from reviews.models import Review, ReviewBattle, ReviewItem
from reviews.sweep import sweep
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db
PAIRS = 7


def vote(actor: Actor, battle: Battle, choice: str = "left") -> Vote:
    return battle_actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice(choice))


def counts(review: Review) -> tuple[int, int]:
    """Return the sums of opinions and of leases."""
    items = ReviewItem.objects.filter(review=review)
    return sum(item.opinions for item in items), sum(item.leases for item in items)


def reopened(review: Review, **terms: object) -> Review:
    """Return an open review of the same run with other terms."""
    made = actions.create_review(owner=review.owner, run=review.run, **terms)  # type: ignore[arg-type,misc]
    return actions.open_review(made)


def test_battle_shows_stored_answers_without_a_call(review: Review, models: list[LanguageModel]):
    calls, person = Call.objects.count(), make.member()

    battle = actions.next_battle(person, review)

    assert battle is not None
    drawn = ReviewBattle.objects.get(battle=battle)
    assert Call.objects.count() == calls
    assert (battle.mode, battle.series, drawn.knew_answers) == ("review", review.public_id, False)
    assert {side.model for side in Side.objects.filter(battle=battle)} == set(models)
    [turn] = battle.turns.all()
    case = drawn.review_item.case
    assert case is not None
    assert turn.prompt == f"Answer with one word.\n\nWhat is the capital of {case.variables['country']}?"
    for answer in turn.answers.select_related("side"):
        item = {side.first_model_id: side.first_item for side in [drawn.review_item]}
        item[drawn.review_item.second_model_id] = drawn.review_item.second_item
        reply = item[answer.side.model_id].replies.get().reply
        assert (answer.text, answer.call) == (reply.text, reply.call)
    assert counts(review) == (0, 1)


def test_person_sees_each_pair_once_and_then_nothing(review: Review):
    person, seen = make.member(), []
    others = reopened(review, opinions_per_item=50)
    for _n in range(PAIRS):
        battle = actions.next_battle(person, others)
        assert battle is not None
        vote(person, battle)
        seen.append(ReviewBattle.objects.get(battle=battle).review_item_id)

    assert len(set(seen)) == PAIRS
    assert actions.next_battle(person, others) is None
    assert counts(others) == (PAIRS, 0)


def test_battle_waits_for_its_person(review: Review):
    person = make.member()
    first = actions.next_battle(person, review)
    ReviewBattle.objects.update(lease_until=timezone.now() + timedelta(minutes=1))

    assert actions.next_battle(person, review) == first
    [drawn] = ReviewBattle.objects.all()
    assert drawn.lease_until is not None
    assert drawn.lease_until > timezone.now() + timedelta(minutes=14)
    assert counts(review) == (0, 1)


def test_prompt_does_not_come_twice_in_a_row(review: Review, sample: Sample, owner: Actor):
    # Three models make three pairs of each prompt.
    from tests.worlds.benchmarks import samples

    run = samples.finished_run(owner.user, sample.run.version, [make.model() for _n in range(3)])
    many, person = actions.open_review(actions.create_review(owner=owner.user, run=run)), make.member()
    cases = []
    for _n in range(10):
        battle = actions.next_battle(person, many)
        assert battle is not None
        cases.append(ReviewBattle.objects.get(battle=battle).review_item.case_id)
        vote(person, battle)
    assert all(earlier != later for earlier, later in pairwise(cases))


def test_expired_lease_gives_the_pair_to_others(review: Review):
    sleeper, others = make.member(), [make.member() for _n in range(PAIRS)]
    asleep = actions.next_battle(sleeper, review)
    assert asleep is not None
    taken = [actions.next_battle(person, review) for person in others]
    assert taken[-1] is None  # every pair is reserved
    ReviewBattle.objects.filter(battle=asleep).update(lease_until=timezone.now() - timedelta(seconds=1))

    sweep()

    assert counts(review) == (0, PAIRS - 1)
    again = actions.next_battle(others[-1], review)
    assert again is not None
    pair = ReviewBattle.objects.get(battle=asleep).review_item
    assert ReviewBattle.objects.get(battle=again).review_item == pair
    vote(others[-1], again)
    vote(sleeper, asleep)  # woke up: one opinion more than asked for
    pair.refresh_from_db()
    assert (pair.opinions, pair.leases) == (2, 0)


def test_person_who_comes_back_after_the_lease_gets_it_again(review: Review):
    person = make.member()
    battle = actions.next_battle(person, review)
    ReviewBattle.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    assert counts(review) == (0, 0)

    assert actions.next_battle(person, review) == battle
    assert counts(review) == (0, 1)


def test_pair_drawn_before_a_crash_is_shown_after_it(review: Review, monkeypatch: pytest.MonkeyPatch):
    person = make.member()

    def crash(*_args: object, **_fields: object) -> Battle:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("reviews.actions.battles.start_stored_battle", crash)
        with pytest.raises(KeyboardInterrupt):
            actions.next_battle(person, review)
    [drawn] = ReviewBattle.objects.all()
    assert drawn.battle is None

    battle = actions.next_battle(person, review)
    drawn.refresh_from_db()
    assert drawn.battle == battle
    assert counts(review) == (0, 1)


def test_deleted_battle_is_given_up(review: Review):
    person = make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    battle_actions.discard_session(battle.session)

    again = actions.next_battle(person, review)
    assert again is not None
    assert again != battle
    assert ReviewBattle.objects.values("review_item").distinct().count() == 2
    assert counts(review) == (0, 1)


def test_vote_ends_the_lease_and_counts_once(review: Review):
    person = make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    cast = vote(person, battle, "tie")

    assert (cast.series, cast.on_site_boards, cast.excluded_reason) == (review.public_id, False, "")
    assert counts(review) == (1, 0)
    drawn = ReviewBattle.objects.get(battle=battle)
    assert (drawn.lease_until, drawn.ended_at is not None) == (None, True)
    assert 0 < drawn.propensity <= drawn.pair_propensity <= 1
    assert battle.propensity == drawn.pair_propensity


def test_owner_judges_without_counting(review: Review, owner: Actor):
    battle = actions.next_battle(owner, review)
    assert battle is not None
    assert counts(review) == (0, 0)
    cast = vote(owner, battle)

    assert cast.excluded_reason == "knew_answers"
    assert Vote.objects.get().excluded_reason == "knew_answers"
    assert ReviewBattle.objects.get().knew_answers
    assert counts(review) == (0, 0)


def test_adaptive_plan_asks_people(review: Review):
    adaptive, person = reopened(review, plan="adaptive"), make.member()
    for _n in range(PAIRS):
        battle = actions.next_battle(person, adaptive)
        assert battle is not None
        vote(person, battle)
    assert actions.next_battle(person, adaptive) is None


def test_most_per_person_ends_the_battles(review: Review):
    limited, person = reopened(review, most_per_person=2), make.member()
    for _n in range(2):
        battle = actions.next_battle(person, limited)
        assert battle is not None
        vote(person, battle)
    assert actions.next_battle(person, limited) is None


def test_closed_review_takes_no_votes(review: Review):
    person = make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    actions.close_review(review)
    review.refresh_from_db()

    with pytest.raises(ReviewTakesNoVotes):
        actions.next_battle(person, review)
    with pytest.raises(ReviewTakesNoVotes):
        vote(person, battle)
    assert not Vote.objects.exists()


def test_database_refuses_a_second_battle_on_a_pair(review: Review):
    battle = actions.next_battle(make.member(), review)
    drawn = ReviewBattle.objects.get(battle=battle)
    drawn.pk, drawn.battle, drawn.lease_until, drawn.ended_at = None, None, None, timezone.now()
    with pytest.raises(DatabaseError, match="a_person_judges_a_pair_once"), transaction.atomic():
        drawn.save(force_insert=True)


def test_cells_get_even_opinions(review: Review, sample: Sample, owner: Actor):
    from tests.worlds.benchmarks import samples

    run = samples.finished_run(owner.user, sample.run.version, [make.model() for _n in range(4)])
    many = actions.open_review(actions.create_review(owner=owner.user, run=run, opinions_per_item=20))
    cells = set(ReviewItem.objects.filter(review=many).values_list("cell", flat=True))
    for _n in range(6):
        person = make.member()
        for _battle in range(len(cells)):
            battle = actions.next_battle(person, many)
            if battle is not None:
                vote(person, battle)
    taken = Counter[int]()
    for item in ReviewItem.objects.filter(review=many):
        taken[item.cell] += item.opinions
    assert max(taken.values()) - min(taken.values()) <= 4
