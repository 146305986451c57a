from django.dispatch import receiver

from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from uploads.files.deletion import delete_upload
from uploads.models import Upload
from uploads.signals import uploads_merged


@receiver(visitor_claimed)
def transfer_uploads(visitor: Visitor, user: User, **_: object) -> None:
    """Give the visitor's uploads to the member; of a file that both have, the member's stays."""
    own_by_sha256 = dict(Upload.objects.filter(owner_user=user, deleted_at=None).values_list("sha256", "pk"))
    for duplicate in Upload.objects.filter(owner_visitor=visitor, deleted_at=None, sha256__in=own_by_sha256):
        uploads_merged.send(
            sender=Upload, before=duplicate, after=Upload.objects.get(pk=own_by_sha256[duplicate.sha256])
        )
        delete_upload(duplicate)
    Upload.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
