from django.db import transaction
from django.db.models.functions import Now

from uploads.files import storage
from uploads.models import Extraction, Upload
from uploads.signals import upload_deleted


@transaction.atomic
def delete_upload(upload: Upload) -> None:
    """Delete the file and its extraction; the upload's row stays. Raises UploadInUse."""
    upload = Upload.objects.select_for_update().get(pk=upload.pk)
    if upload.deleted_at is not None:
        return
    upload_deleted.send(sender=Upload, upload=upload)
    Extraction.objects.filter(upload=upload).delete()
    Upload.objects.filter(pk=upload.pk).update(deleted_at=Now())
    # robust: the row stays deleted if the storage fails.
    transaction.on_commit(lambda: delete_stored_file(upload), robust=True)


def delete_stored_file(upload: Upload) -> None:
    """Remove a deleted upload's file; cleanup retries while the storage fails."""
    storage.delete(upload.stored_as)
    Upload.objects.filter(pk=upload.pk).update(stored_as="")
