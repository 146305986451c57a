"""What a visitor battled and reported becomes the member's at sign-in."""

from django.db import IntegrityError, transaction
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from battles.actions import file_stars_under, file_votes_under
from battles.models import ModerationCase, Report, Session, StarRating, Vote
from common.db.execution import violates


@receiver(visitor_claimed)
def hand_over(visitor: Visitor, user: User, **_: object) -> None:
    Session.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
    before, after = Actor(visitor=visitor).key, Actor(user=user).key
    file_votes_under(after, Vote.objects.filter(voter=before))
    file_stars_under(after, StarRating.objects.filter(voter=before))
    ModerationCase.objects.filter(visitor=visitor).update(user=user, visitor=None)
    for report in Report.objects.filter(visitor=visitor):
        _hand_over_report(report, user)


def _hand_over_report(report: Report, user: User) -> None:
    """Of a battle that the member reported too, perhaps just now, the member's report stays."""
    mine = Report.objects.filter(pk=report.pk)
    try:
        with transaction.atomic():
            mine.update(user=user, visitor=None)
    except IntegrityError as error:
        if not violates(error, "a_member_reports_a_battle_once"):
            raise
        mine.delete()
