"""Ends of people in reviews with a stop rule: the last pair, the rest of the quota, and a sign-in."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from models_registry.models import LanguageModel
from reviews.actions.stopping import end_away_people
from reviews.models import Review, Reviewer
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
