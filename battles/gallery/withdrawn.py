from django.db.models import Q

from battles.errors import NoLongerPublished
from battles.models import GalleryTombstone, Share


def find_share(address: str) -> Share | None:
    """Return the published page; None if it never was in the gallery. Raises NoLongerPublished."""
    share = Share.objects.readable().filter(public_id=address).first()
    was_listed = Q(public_id=address, listed_at__isnull=False)
    if share is None and (
        Share.objects.filter(was_listed).exists() or GalleryTombstone.objects.filter(address=address).exists()
    ):
        raise NoLongerPublished
    return share
