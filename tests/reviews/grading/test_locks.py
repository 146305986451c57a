"""Grades beside the close."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from accounts.actor import Actor
from reviews import actions
from reviews.errors import ReviewTakesNoVotes
from reviews.models import Review, ReviewGrade
from tests import make
from tests.concurrency import is_waited_for
from tests.waiting import wait_for
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def graded(owner: Actor, sample: Sample) -> Review:
    """An open review that asks all members for two grades of each answer."""
    made = actions.create_review(owner=owner.user, run=sample.run, asks_for="pass", opinions_per_item=2)
    return actions.open_review(made)


def draw(person: Actor, review: Review) -> ReviewGrade:
    drawn = actions.next_answer(person, review)
    assert drawn is not None
    return drawn


def closed(act: Callable[[], object]) -> Callable[[], object]:
    """Close the connection of the thread in which it ran."""

    def run() -> object:
        try:
            return act()
        finally:
            connection.close()

    return run


def test_close_waits_for_a_grade_under_way(graded: Review):
    person = make.member()
    drawn = draw(person, graded)
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            given = actions.grade_answer(person, graded, drawn.pk, 1)
            closing = threads.submit(closed(lambda: actions.close_review(graded)))
            wait_for(is_waited_for, within=20)
        closing.result()
    graded.refresh_from_db()
    assert graded.ended_at is not None
    assert given.ended_at is not None
    assert given.ended_at < graded.ended_at


def test_grade_beside_the_close_is_refused(graded: Review):
    person = make.member()
    drawn = draw(person, graded)
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            actions.close_review(graded)
            grading = threads.submit(closed(lambda: actions.grade_answer(person, graded, drawn.pk, 1)))
            wait_for(lambda: grading.done() or is_waited_for(), within=20)
        with pytest.raises(ReviewTakesNoVotes):
            grading.result()
    assert not ReviewGrade.objects.filter(value__isnull=False).exists()
