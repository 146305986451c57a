from django.dispatch import receiver

from battles.models import Attachment, Turn
from uploads.errors import UploadInUse
from uploads.models import Upload
from uploads.signals import upload_deleted, uploads_merged


@receiver(upload_deleted)
def refuse_while_answering(upload: Upload, **_: object) -> None:
    """Raise UploadInUse while a live turn uses the upload: a later call would receive other content."""
    if Attachment.objects.filter(upload=upload).exclude(turn__state=Turn.State.DONE).exists():
        raise UploadInUse


@receiver(uploads_merged)
def move_attachments(before: Upload, after: Upload, **_: object) -> None:
    Attachment.objects.filter(upload=before).update(upload=after)
