from django.db import IntegrityError, transaction
from django.dispatch import receiver

from accounts.actor import Actor
from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from battles.actions import reassign_stars, reassign_votes
from battles.models import ModerationCase, Report, RoutingDecision, Session, StarRating, Vote
from common.db.execution import violates


@receiver(visitor_claimed)
def transfer_to_member(visitor: Visitor, user: User, **_: object) -> None:
    Session.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
    before, after = Actor(visitor=visitor).key, Actor(user=user).key
    reassign_votes(Vote.objects.filter(voter=before), voter=after)
    reassign_stars(StarRating.objects.filter(voter=before), voter=after)
    RoutingDecision.objects.filter(person=before).update(person=after)
    ModerationCase.objects.filter(visitor=visitor).update(user=user, visitor=None)
    for report in Report.objects.filter(visitor=visitor):
        _transfer_report(report, user)


def _transfer_report(report: Report, user: User) -> None:
    """Transfer a report, or delete it if the member reported the battle, possibly at this moment."""
    rows = Report.objects.filter(pk=report.pk)
    try:
        with transaction.atomic():
            rows.update(user=user, visitor=None)
    except IntegrityError as error:
        if not violates(error, "a_member_reports_a_battle_once"):
            raise
        rows.delete()
