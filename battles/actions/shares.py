from django.db import transaction
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.actor import Actor
from battles.errors import (
    BattleIsHidden,
    BattleIsVoid,
    InAReview,
    InATeam,
    NotPublished,
    NotVotedYet,
    StillAnswering,
)
from battles.models import Battle, BattleQuerySet, GalleryTombstone, Session, Share, Turn, Vote
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
    Share.objects.filter(battle=battle).withdraw()


@transaction.atomic
def list_in_gallery(*, battle: Battle) -> Share:
    """List the battle's page where people find it without its link. Raises NotPublished and BattleIsHidden."""
    share = Share.objects.select_for_update(of=("self",)).select_related("battle").filter(battle=battle).first()
    if share is None:
        raise NotPublished
    if share.battle.is_hidden:
        raise BattleIsHidden
    if share.listed_at is None:
        GalleryTombstone.objects.filter(address=share.public_id).delete()
        share.listed_at = timezone.now()
        share.save(update_fields=["listed_at"])
    return share


def unlist(*, battle: Battle) -> None:
    Share.objects.filter(battle=battle).unlist()


def withdraw_consent(battles: BattleQuerySet) -> int:
    """Exclude the battles' texts from later exports; return how many had consent.

    The version agreed to and the time of withdrawal are kept.
    """
    return battles.with_consent().update(consent_withdrawn_at=Now())


def withdraw_every_consent(actor: Actor) -> int:
    """Withdraw consent for all of the actor's battles, also in discarded sessions."""
    return withdraw_consent(Battle.objects.filter(session__in=Session.objects.owned_or_discarded_by(actor)))
