from django.dispatch import receiver

from benchmarks.models import Run
from uploads.errors import UploadInUse
from uploads.models import Upload
from uploads.signals import upload_deleted


@receiver(upload_deleted)
def refuse_while_run_is_live(upload: Upload, **_: object) -> None:
    """Raise UploadInUse while a run of a case with the upload is live: later calls would receive other content."""
    if Run.objects.live().filter(version__cases__files__upload=upload).exists():
        raise UploadInUse
