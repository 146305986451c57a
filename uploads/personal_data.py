from django.dispatch import receiver

from accounts.models import User
from accounts.personal_data import account_deleting, personal_data_requested
from uploads.models import Upload
from uploads.payload_types import UploadPayload
from uploads.payloads import upload_summary


@receiver(personal_data_requested)
def export_uploads(user: User, **_: object) -> dict[str, list[UploadPayload]]:
    return {
        "uploads": [upload_summary(upload) for upload in Upload.objects.filter(owner_user=user).kept().order_by("pk")]
    }


@receiver(account_deleting)
def disown_uploads(user: User, **_: object) -> None:
    """Remove the owner and names that may identify them; the next cleanup deletes the files."""
    Upload.objects.filter(owner_user=user).update(name="", owner_user=None)
