"""People publish battles, and withdraw them; and withdraw their consent to what the arena publishes."""

from django.db.models import Count, Q
from django.db.models.functions import Now

from accounts.actor import Actor
from battles.errors import BattleIsHidden, BattleIsVoid, NotVotedYet, StillAnswering
from battles.models import Battle, BattleQuerySet, Session, Share, Turn, Vote


def publish(*, battle: Battle) -> Share:
    """Give the battle a public page with all that was said so far, or bring the one it has up to date.

    Raises BattleIsHidden, BattleIsVoid, StillAnswering, and NotVotedYet while the names are not known.
    """
    if battle.hidden_at is not None:
        raise BattleIsHidden
    if battle.is_void:
        raise BattleIsVoid
    if battle.is_blind and not Vote.objects.filter(battle=battle).exists():
        raise NotVotedYet
    turns = battle.turns.aggregate(said=Count("pk"), live=Count("pk", filter=~Q(state=Turn.State.DONE)))
    if turns["live"]:
        raise StillAnswering
    share, _ = Share.objects.update_or_create(battle=battle, defaults={"turn_count": turns["said"]})
    return share


def withdraw(*, battle: Battle) -> None:
    Share.objects.filter(battle=battle).delete()


def withdraw_consent(battles: BattleQuerySet) -> int:
    """Their prompts and answers are in no export that begins later. Returns of how many battles that was new.

    What had been agreed to, and when that was withdrawn, stays on record.
    """
    return battles.with_consent().update(consent_withdrawn_at=Now())


def withdraw_every_consent(actor: Actor) -> int:
    """As withdraw_consent, for all that a person asked, in sessions that may still be had back too."""
    return withdraw_consent(Battle.objects.filter(session__in=Session.objects.owned_or_discarded_by(actor)))
