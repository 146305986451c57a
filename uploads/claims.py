from django.dispatch import receiver

from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from uploads.deletion import delete_upload
from uploads.models import Upload
from uploads.signals import uploads_merged


@receiver(visitor_claimed)
def transfer_uploads(visitor: Visitor, user: User, **_: object) -> None:
    """Give the visitor's uploads to the member; of a file that both have, the member's stays."""
    theirs = dict(Upload.objects.filter(owner_user=user, deleted_at=None).values_list("sha256", "pk"))
    for twin in Upload.objects.filter(owner_visitor=visitor, deleted_at=None, sha256__in=theirs):
        uploads_merged.send(sender=Upload, before=twin, after=Upload.objects.get(pk=theirs[twin.sha256]))
        delete_upload(twin)
    Upload.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)
