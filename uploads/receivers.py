from django.dispatch import receiver

from accounts.claims import visitor_claimed
from accounts.models import User, Visitor
from accounts.personal_data import account_deleting, personal_data_requested
from uploads.files.deletion import delete_upload
from uploads.models import Upload
from uploads.payload_types import UploadPayload
from uploads.payloads import upload_summary
from uploads.signals import uploads_merged


@receiver(visitor_claimed)
def transfer_uploads(visitor: Visitor, user: User, **_: object) -> None:
    """Give the visitor's uploads to the member; of a file that both have, the member's stays."""
    own_by_sha256 = dict(Upload.objects.filter(owner_user=user, team=None, deleted_at=None).values_list("sha256", "pk"))
    for duplicate in Upload.objects.filter(owner_visitor=visitor, deleted_at=None, sha256__in=own_by_sha256):
        uploads_merged.send(
            sender=Upload, before=duplicate, after=Upload.objects.get(pk=own_by_sha256[duplicate.sha256])
        )
        delete_upload(duplicate)
    Upload.objects.filter(owner_visitor=visitor).update(owner_user=user, owner_visitor=None)


@receiver(personal_data_requested)
def export_uploads(user: User, **_: object) -> dict[str, list[UploadPayload]]:
    return {
        "uploads": [
            upload_summary(upload) for upload in Upload.objects.filter(owner_user=user, team=None).kept().order_by("pk")
        ]
    }


@receiver(account_deleting)
def disown_uploads(user: User, **_: object) -> None:
    """Remove the owner and names that may identify them; the next cleanup deletes the files, but those of teams."""
    Upload.objects.filter(owner_user=user, team=None).update(name="", owner_user=None)
    Upload.objects.filter(owner_user=user).update(owner_user=None)
