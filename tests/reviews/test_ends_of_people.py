"""Ends of people in reviews with a stop rule: the last pair, the rest of the quota, and a sign-in."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import Visitor
from accounts.personal_data import collect_personal_data
from battles.actions import cast_vote
from battles.models import Vote
from models_registry.models import LanguageModel
from reviews import actions
from reviews.actions.stopping import decide_anew, end_away_people
from reviews.models import Contrast, Review, ReviewBattle, Reviewer, ReviewItem
from reviews.queries import voted_by
from reviews.tasks import publish_boards
from tests import make
from tests.reviews.ruling import prefer, ruled
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


@pytest.fixture
def nearly_decided(three: Sample) -> Review:
    """A review in which the last end decides cat against dog, with pairs left; all others have their opinions."""
    review = ruled(three, [["cat", "dog"], ["cat", "eel"]], opinions_per_item=20)
    others = review.items.exclude(first_model__slug__in=["cat", "dog"], second_model__slug__in=["cat", "dog"])
    others.update(opinions=20)
    for _n in range(12):
        prefer(review, make.member(), LanguageModel.objects.get(slug="cat"))
    Reviewer.objects.update(away_at=timezone.now() - timedelta(seconds=1))
    return review


def test_end_that_decides_the_rest_closes_the_review(
    nearly_decided: Review, django_capture_on_commit_callbacks: Callable[..., Any]
):
    with django_capture_on_commit_callbacks(execute=True):
        end_away_people()
    nearly_decided.refresh_from_db()
    decisions = list(nearly_decided.contrasts.order_by("pk").values_list("decision", flat=True))
    assert decisions == ["better", "not_decided"]
    assert nearly_decided.items.filter(opinions__lt=20).exists()
    assert (nearly_decided.state, nearly_decided.ended_by) == ("closed", "quota")


def test_decided_pairs_keep_no_review_open(nearly_decided: Review):
    end_away_people()  # the test never runs its close after the commit
    nearly_decided.refresh_from_db()
    assert nearly_decided.state == "open"

    publish_boards()

    nearly_decided.refresh_from_db()
    assert (nearly_decided.state, nearly_decided.ended_by) == ("closed", "quota")


def test_undecided_pairs_short_of_opinions_stay_open(nearly_decided: Review):
    nearly_decided.items.filter(first_model__slug="dog", second_model__slug="eel").update(opinions=19)
    end_away_people()
    publish_boards()
    nearly_decided.refresh_from_db()
    assert nearly_decided.state == "open"


def sign_in(visitor: Actor, member: Actor) -> None:
    assert visitor.visitor is not None
    Visitor.objects.filter(pk=visitor.visitor.pk).update(claimed_by=member.user)
    visitor_claimed.send(sender=Visitor, visitor=visitor.visitor, user=member.user)


def contrast(review: Review) -> dict[str, object]:
    return Contrast.objects.filter(review=review).values().get()


def end(review: Review) -> None:
    Reviewer.objects.filter(away_at__isnull=False).update(away_at=timezone.now() - timedelta(seconds=1))
    end_away_people()


@pytest.fixture
def twice(sample: Sample, models: list[LanguageModel]) -> tuple[Review, Actor, Actor]:
    """A review, a visitor who ended after two votes, and a member with one vote on another pair: the same person."""
    review, visitor, member = ruled(sample, audience="everyone", repeats_percent=0), make.visitor(), make.member()
    prefer(review, visitor, models[0], 2)
    end(review)
    of_visitor = ReviewItem.objects.filter(battles__person=visitor.key)
    of_visitor.update(opinions=50)
    prefer(review, member, models[1])
    of_visitor.update(opinions=1)
    return review, visitor, member


@pytest.mark.parametrize("has_ended", [True, False])
def test_sign_in_changes_no_mean(twice: tuple[Review, Actor, Actor], has_ended: bool):
    review, visitor, member = twice
    if has_ended:
        end(review)
    before = contrast(review)
    sign_in(visitor, member)
    decide_anew(review.public_id)
    assert contrast(review) == before
    end(review)
    after = contrast(review)
    assert (after["people"], after["opinions"], after["mean"]) == (2, 3, 0.5)


def test_member_is_not_shown_the_visitors_pairs(twice: tuple[Review, Actor, Actor]):
    review, visitor, member = twice
    sign_in(visitor, member)
    while (battle := actions.next_battle(member, review)) is not None:
        cast_vote(actor=member, battle=battle, choice=Vote.Choice.TIE)
    assert set(ReviewItem.objects.filter(review=review).values_list("opinions", flat=True)) == {1}
    assert not Vote.objects.exclude(excluded_reason="").exists()
    browser = make.browser(member)
    assert "7 of 7" in " ".join(browser.get(review.get_absolute_url()).text.split())
    assert browser.get(f"/api/v1/reviews/{review.public_id}/").json()["voted"] == 7


def test_reviews_with_and_without_a_rule_are_counted_together(
    twice: tuple[Review, Actor, Actor], sample: Sample, models: list[LanguageModel]
):
    review, visitor, member = twice
    drafted = actions.create_review(owner=sample.run.owner, run=sample.run, audience="everyone", repeats_percent=0)
    without_rule = actions.open_review(drafted)
    prefer(without_rule, visitor, models[0])
    sign_in(visitor, member)
    prefer(without_rule, member, models[1])
    assert voted_by(member, [without_rule, review]) == {without_rule.pk: 2, review.pk: 3}
    assert voted_by(make.member(), [without_rule, review]) == {without_rule.pk: 0, review.pk: 0}


def test_vote_on_a_pair_of_the_same_visitor_is_repeated(twice: tuple[Review, Actor, Actor]):
    review, visitor, member = twice
    of_visitor = ReviewItem.objects.filter(battles__person=visitor.key)
    review.items.exclude(pk__in=of_visitor.values("pk")).update(opinions=50)
    battle = actions.next_battle(member, review)  # before the sign-in
    assert battle is not None
    sign_in(visitor, member)
    assert cast_vote(actor=member, battle=battle, choice=Vote.Choice.TIE).excluded_reason == "repeated"
    assert set(of_visitor.values_list("opinions", "leases")) == {(1, 0)}


def test_visitor_whose_member_is_new_stays_one_person(sample: Sample, models: list[LanguageModel]):
    review, visitor, member = ruled(sample, audience="everyone"), make.visitor(), make.member()
    prefer(review, visitor, models[0], 2)
    end(review)
    before = contrast(review)
    sign_in(visitor, member)
    decide_anew(review.public_id)
    assert contrast(review) == before
    assert set(ReviewBattle.objects.values_list("person", flat=True)) == {member.key}


def test_deleted_account_leaves_no_key_of_its_visitor(twice: tuple[Review, Actor, Actor]):
    review, visitor, member = twice
    Reviewer.objects.filter(person=visitor.key).update(nickname="Ada", network="abc")
    sign_in(visitor, member)
    before = contrast(review)
    assert len(collect_personal_data(member.user)["joined_reviews"]) == 2
    delete_account(member.user)
    assert all(person.startswith("deleted:") for person in ReviewBattle.objects.values_list("person", flat=True))
    assert set(Reviewer.objects.values_list("nickname", "network")) == {("", "")}
    decide_anew(review.public_id)
    assert contrast(review) == before
