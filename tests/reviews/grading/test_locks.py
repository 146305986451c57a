"""Grades beside the close, the sweep, and owners who set people aside."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.actor import Actor
from reviews import actions
from reviews.actions.people import set_aside
from reviews.errors import ReviewTakesNoVotes
from reviews.models import GradedAnswer, Review, Reviewer, ReviewGrade
from reviews.sweep import sweep
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


def locked_by_one_that_waits(act: Callable[[], object]) -> set[int]:
    """Return the answers that `act` has locked when it waits for the answer with the lowest id."""
    answers = list(GradedAnswer.objects.order_by("-pk"))
    for answer in answers:  # their order on the disk is the reverse now, in which a plain update finds them
        answer.save(update_fields=["cluster"])
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            GradedAnswer.objects.select_for_update().get(pk=answers[-1].pk)
            acting = threads.submit(closed(act))
            wait_for(is_waited_for, within=20)
            free = set(GradedAnswer.objects.select_for_update(skip_locked=True).values_list("pk", flat=True))
        acting.result()
    return {answer.pk for answer in answers} - free


def test_sweep_locks_answers_in_their_order(graded: Review):
    for _n in range(15):
        draw(make.member(), graded)
    ReviewGrade.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert locked_by_one_that_waits(sweep) == set()
    assert not GradedAnswer.objects.filter(leases__gt=0).exists()


def test_setting_aside_locks_answers_in_their_order(graded: Review, owner: Actor):
    person = make.member()
    while (drawn := actions.next_answer(person, graded)) is not None:
        actions.grade_answer(person, graded, drawn.pk, 1)
    [reviewer] = Reviewer.objects.all()

    def act() -> None:
        set_aside(reviewer, by=owner.user, because="asleep", evidence={})

    assert locked_by_one_that_waits(act) == set()
    assert not GradedAnswer.objects.filter(grades__gt=0).exists()
