from django.db import transaction
from django.db.models import Count, Q
from django.db.models.functions import Now

from accounts.actor import Actor
from battles.errors import BattleIsHidden, BattleIsVoid, InAReview, InATeam, NotVotedYet, StillAnswering
from battles.models import Battle, BattleQuerySet, Session, Share, Turn, Vote
from battles.signals import names_showing


def publish(*, battle: Battle) -> Share:
    """Publish the battle's turns so far, or update its page.

    Raises InATeam, InAReview, BattleIsHidden, BattleIsVoid, StillAnswering, and NotVotedYet while the names are hidden.
    """
    if battle.session.team_id is not None:
        raise InATeam
    if battle.is_review:
        raise InAReview
    if battle.hidden_at is not None:
        raise BattleIsHidden
    if battle.is_void:
        raise BattleIsVoid
    if battle.is_blind and not Vote.objects.filter(battle=battle).exists():
        raise NotVotedYet
    turns = battle.turns.aggregate(total=Count("pk"), live=Count("pk", filter=~Q(state=Turn.State.DONE)))
    if turns["live"]:
        raise StillAnswering
    with transaction.atomic():
        names_showing.send(sender=Battle, battles=Battle.objects.filter(pk=battle.pk))
        share, _ = Share.objects.update_or_create(battle=battle, defaults={"turn_count": turns["total"]})
    return share


def withdraw(*, battle: Battle) -> None:
    Share.objects.filter(battle=battle).delete()


def withdraw_consent(battles: BattleQuerySet) -> int:
    """Exclude the battles' texts from later exports; return how many had consent.

    The version agreed to and the time of withdrawal are kept.
    """
    return battles.with_consent().update(consent_withdrawn_at=Now())


def withdraw_every_consent(actor: Actor) -> int:
    """Withdraw consent for all of the actor's battles, also in discarded sessions."""
    return withdraw_consent(Battle.objects.filter(session__in=Session.objects.owned_or_discarded_by(actor)))
