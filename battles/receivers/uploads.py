from django.dispatch import receiver

from accounts.actor import Actor
from battles.models import Attachment, Battle, Turn
from uploads.errors import UploadInUse
from uploads.models import Upload
from uploads.signals import upload_deleted, upload_shown, uploads_merged


@receiver(upload_deleted)
def refuse_while_answering(upload: Upload, **_: object) -> None:
    """Raise UploadInUse while a live turn uses the upload: a later call would receive other content."""
    if Attachment.objects.filter(upload=upload).exclude(turn__state=Turn.State.DONE).exists():
        raise UploadInUse


@receiver(upload_shown)
def is_in_own_review(upload: Upload, actor: Actor, **_: object) -> bool:
    """Return whether a battle of a review, whose files are another's, shows the file to the actor."""
    shown = Battle.objects.owned_by(actor).filter(mode=Battle.Mode.REVIEW, hidden_at=None)
    return Attachment.objects.filter(upload=upload, turn__battle__in=shown).exists()


@receiver(uploads_merged)
def move_attachments(before: Upload, after: Upload, **_: object) -> None:
    Attachment.objects.filter(upload=before).update(upload=after)
