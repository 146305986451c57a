"""Rounds over reviews: leases that expired, people who are away, runs that are done, deadlines."""

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from common.sweeping import Step, Sweep
from reviews.actions import close_due, end_away_people, open_due
from reviews.models import Review, ReviewBattle, Reviewer, ReviewGrade
from reviews.sql import read_sql


def _expired() -> QuerySet[ReviewBattle]:
    return ReviewBattle.objects.filter(lease_until__lt=Now())


def _end_leases() -> None:
    with connection.cursor() as cursor:
        cursor.execute(read_sql("end_leases.sql"))


def _expired_grades() -> QuerySet[ReviewGrade]:
    return ReviewGrade.objects.filter(lease_until__lt=Now())


def _end_leases_of_grades() -> None:
    with connection.cursor() as cursor:
        cursor.execute(read_sql("end_leases_of_grades.sql"))


def _due_to_open() -> QuerySet[Review]:
    return Review.objects.due_to_open()


def _past_deadline() -> QuerySet[Review]:
    return Review.objects.past_deadline()


def _away() -> QuerySet[Reviewer]:
    return Reviewer.objects.away()


sweep = Sweep(
    Step(_expired, _end_leases),
    Step(_expired_grades, _end_leases_of_grades),
    Step(_away, end_away_people),
    Step(_due_to_open, open_due),
    Step(_past_deadline, close_due),
)
