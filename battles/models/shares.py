"""Battles that their owners have published."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from battles.models.battles import Battle
from common.ids import new_public_id


class ShareQuerySet(models.QuerySet["Share"]):
    def readable(self) -> "ShareQuerySet":
        """Those whose page is there for whoever has the address."""
        return self.filter(battle__hidden_at=None, battle__session__discarded_at=None)


class Share(models.Model):
    """The public page of a battle. To withdraw it is to delete this: its address never comes back."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    battle = models.OneToOneField(Battle, models.CASCADE, related_name="share")
    # What was said later is its owner's alone, until it is published again.
    turn_count = models.PositiveSmallIntegerField()
    published_at = models.DateTimeField(db_default=Now())

    objects = ShareQuerySet.as_manager()

    if TYPE_CHECKING:
        battle_id: int

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:shared", args=[self.public_id])
