"""What battles make of it when an upload goes, or turns out to be another one's twin."""

from django.dispatch import receiver

from battles.models import Attachment, Turn
from uploads.errors import UploadInUse
from uploads.models import Upload
from uploads.signals import upload_deleted, uploads_merged


@receiver(upload_deleted)
def keep_while_models_answer(upload: Upload, **_: object) -> None:
    """Otherwise a side that is asked later than the other would be sent something else."""
    if Attachment.objects.filter(upload=upload).exclude(turn__state=Turn.State.DONE).exists():
        raise UploadInUse


@receiver(uploads_merged)
def use_the_other(before: Upload, after: Upload, **_: object) -> None:
    Attachment.objects.filter(upload=before).update(upload=after)
