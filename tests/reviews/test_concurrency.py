from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connections

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Battle, Vote
from reviews import actions
from reviews.errors import ReviewTakesNoVotes
from reviews.models import Review, ReviewBattle, ReviewItem
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PEOPLE, OPINIONS = 20, 3


@pytest.fixture
def many(sample: Sample, owner: Actor) -> Review:
    """Three models on eight cases: about 24 pairs, three opinions each."""
    run = samples.finished_run(owner.user, sample.run.version, [make.model() for _n in range(3)])
    return actions.open_review(actions.create_review(owner=owner.user, run=run, opinions_per_item=OPINIONS))


def vote_until_nothing_is_left(review: Review, person: Actor) -> int:
    votes = 0
    try:
        while (battle := actions.next_battle(person, Review.objects.get(pk=review.pk))) is not None:
            cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
            votes += 1
    except ReviewTakesNoVotes:
        pass  # closed: all opinions are there
    finally:
        connections.close_all()
    return votes


def test_twenty_people_at_once_share_the_pairs(many: Review):
    people = [make.member() for _n in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as threads:
        votes = sum(threads.map(partial(vote_until_nothing_is_left, many), people))

    items = list(ReviewItem.objects.filter(review=many))
    assert votes == Vote.objects.count() == sum(item.opinions for item in items)
    assert all(item.opinions <= OPINIONS for item in items)
    pairs = ReviewBattle.objects.values_list("review_item", "person")
    assert len(set(pairs)) == len(pairs)
    many.refresh_from_db()
    assert (many.state, many.ended_by) == ("closed", "quota")
    assert {(item.opinions, item.leases) for item in items} == {(OPINIONS, 0)}


def test_one_person_in_many_tabs_gets_one_battle(many: Review):
    person = make.member()

    def draw(_tab: int) -> Battle | None:
        try:
            return actions.next_battle(person, many)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        battles = set(threads.map(draw, range(16)))
    assert battles == {Battle.objects.get()}
    [drawn] = ReviewBattle.objects.all()
    assert ReviewItem.objects.get(pk=drawn.review_item_id).leases == 1
