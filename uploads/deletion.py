"""Deleting uploads: the file, and the text and pictures that were read from it."""

from django.db import transaction
from django.db.models.functions import Now

from uploads import storage
from uploads.models import Extraction, Upload
from uploads.signals import upload_deleted


@transaction.atomic
def delete_upload(upload: Upload) -> None:
    """Delete the file and what was read from it; its row stays. Raises IsBeingAnswered."""
    upload = Upload.objects.select_for_update().get(pk=upload.pk)
    if upload.deleted_at is not None:
        return
    upload_deleted.send(sender=Upload, upload=upload)
    Extraction.objects.filter(upload=upload).delete()
    Upload.objects.filter(pk=upload.pk).update(deleted_at=Now())
    transaction.on_commit(lambda: forget_file(upload), robust=True)  # the row is deleted also when the storage fails


def forget_file(upload: Upload) -> None:
    """Remove a deleted upload's file; housekeeping retries while the storage fails."""
    storage.forget(upload.stored_as)
    Upload.objects.filter(pk=upload.pk).update(stored_as="")
