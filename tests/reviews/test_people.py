"""People who are two, or none any more, and votes at the moment of the end."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import Visitor
from battles.actions import cast_vote
from battles.models import Battle, Vote
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from reviews import actions
from reviews.errors import PersonalCodeUsed
from reviews.models import PersonalCode, Review, ReviewBattle, ReviewItem
from reviews.sweep import sweep
from reviews.tasks import publish_boards
from tests import make
from tests.concurrency import is_waited_for
from tests.waiting import wait_for
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db
PAIRS = 7


def left(person: Actor, battle: Battle | None) -> Vote:
    assert battle is not None
    return cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)


def opened(sample: Sample, **terms: object) -> Review:
    made = actions.create_review(owner=sample.run.owner, run=sample.run, **terms)  # type: ignore[arg-type]
    return actions.open_review(made)


def opinions(review: Review) -> int:
    return sum(ReviewItem.objects.filter(review=review).values_list("opinions", flat=True))


def test_person_who_votes_before_and_after_sign_in_counts_once(sample: Sample):
    review = opened(sample, audience="everyone", opinions_per_item=2)
    visitor, member = make.visitor(), make.member()
    for person in (visitor, member):
        for _n in range(PAIRS):
            left(person, actions.next_battle(person, review))
    assert opinions(review) == 2 * PAIRS

    visitor_claimed.send(sender=Visitor, visitor=visitor.visitor, user=member.user)

    assert opinions(review) == Vote.objects.filter(excluded_reason="").count() == PAIRS
    assert set(Vote.objects.exclude(excluded_reason="").values_list("excluded_reason", "voter")) == {
        ("repeated", member.key)
    }
    assert actions.next_battle(make.member(), review) is not None


def test_deleted_account_gives_its_pair_back(review: Review, django_capture_on_commit_callbacks):
    person, others = make.member(), [make.member() for _n in range(PAIRS)]
    assert actions.next_battle(person, review) is not None
    with django_capture_on_commit_callbacks(execute=True):
        delete_account(person.user)
    ReviewBattle.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    for other in others:
        left(other, actions.next_battle(other, review))
    assert opinions(review) == PAIRS


def test_retired_model_is_still_compared(review: Review):
    LanguageModel.objects.update(status=LanguageModel.Status.RETIRED)
    person = make.member()
    assert left(person, actions.next_battle(person, review)).excluded_reason == ""


def test_new_visitors_of_a_network_are_limited(sample: Sample, settings: LazySettings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("reviewer", "network"): "3/hour"}
    address = f"/review/{opened(sample, audience='everyone').public_id}/next/"
    browsers = [Client() for _n in range(4)]
    for browser in browsers:
        browser.post(address)
    assert ReviewBattle.objects.count() == 3
    assert browsers[0].post(address)["Location"].startswith("/s/")  # one who has begun goes on


def test_complete_review_closes_after_a_kill_before_its_close(review: Review):
    person = make.member()
    for _n in range(PAIRS):
        left(person, actions.next_battle(person, review))  # the test never runs what follows a commit
    review.refresh_from_db()
    assert review.state == "open"

    publish_boards()

    review.refresh_from_db()
    assert (review.state, review.ended_by) == ("closed", "quota")


@pytest.mark.django_db(transaction=True)
def test_vote_under_way_at_the_close_is_on_the_board(review: Review):
    person = make.member()
    battle = actions.next_battle(person, review)

    def close() -> None:
        try:
            actions.close_review(review)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            left(person, battle)
            closing = threads.submit(close)
            wait_for(is_waited_for, within=20)
        closing.result()
    assert AggregationRun.objects.of_review(review.public_id).get().votes_counted == 1


@pytest.mark.django_db(transaction=True)
def test_personal_code_used_at_once_lets_one_in(sample: Sample):
    review = opened(sample, audience="codes", expected_people=2)
    code, people = PersonalCode.objects.filter(review=review)[0].code, [make.visitor() for _n in range(6)]

    def attempt(person: Actor) -> bool:
        try:
            return bool(actions.join_review(person, review, code=code))
        except PersonalCodeUsed:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as threads:
        assert sum(threads.map(attempt, people)) == 1
    assert review.reviewers.count() == 1
