from typing import TYPE_CHECKING

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from battles.models.battles import Battle
from common.ids import new_public_id


class ShareQuerySet(models.QuerySet["Share"]):
    def readable(self) -> "ShareQuerySet":
        return self.filter(battle__hidden_at=None, battle__session__discarded_at=None)

    def in_gallery(self) -> "ShareQuerySet":
        return self.readable().filter(listed_at__isnull=False)

    @transaction.atomic
    def withdraw(self) -> None:
        """Delete the pages; those that are in the gallery leave tombstones."""
        self.filter(pk__in=self.unlist()).delete()

    @transaction.atomic
    def unlist(self) -> list[int]:
        """Take the pages out of the gallery, while their addresses go on working; return the pages' keys."""
        shares = list(self.select_for_update(of=("self",)).order_by("pk"))
        listed = [(share.public_id, share.listed_at) for share in shares if share.listed_at is not None]
        GalleryTombstone.objects.bulk_create(
            [GalleryTombstone(address=address, listed_at=at) for address, at in listed]
        )
        keys = [share.pk for share in shares]
        self.filter(pk__in=keys).update(listed_at=None)
        return keys


class Share(models.Model):
    """Public page of a battle. Unpublishing deletes the row; the address is never used again."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    battle = models.OneToOneField(Battle, models.CASCADE, related_name="share")
    # Turns up to this number are public; later ones only after publishing again.
    turn_count = models.PositiveSmallIntegerField()
    published_at = models.DateTimeField(db_default=Now())
    # Set by the owner, whose consent it is: without it only people with the link find the page.
    listed_at = models.DateTimeField(null=True, editable=False)

    objects = ShareQuerySet.as_manager()

    if TYPE_CHECKING:
        battle_id: int

    class Meta:
        indexes = [
            models.Index(
                fields=["-listed_at", "-public_id"], name="gallery_newest_first", condition=Q(listed_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return reverse("battles:shared", args=[self.public_id])


class GalleryTombstone(models.Model):
    """Address of a page that was in the gallery, and times; nothing of its battle, models and person."""

    address = models.CharField(max_length=22, unique=True, editable=False)
    listed_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(db_default=Now(), db_index=True)

    def __str__(self) -> str:
        return self.address
