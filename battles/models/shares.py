from typing import TYPE_CHECKING

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from battles.models.battles import Battle
from common.ids import new_public_id


class ShareQuerySet(models.QuerySet["Share"]):
    def readable(self) -> "ShareQuerySet":
        return self.filter(battle__hidden_at=None, battle__session__discarded_at=None)


class Share(models.Model):
    """Public page of a battle. Unpublishing deletes the row; the address is never used again."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    battle = models.OneToOneField(Battle, models.CASCADE, related_name="share")
    # Turns up to this number are public; later ones only after publishing again.
    turn_count = models.PositiveSmallIntegerField()
    published_at = models.DateTimeField(db_default=Now())

    objects = ShareQuerySet.as_manager()

    if TYPE_CHECKING:
        battle_id: int

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:shared", args=[self.public_id])
