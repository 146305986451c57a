import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from uploads.errors import UploadInUse
from uploads.files import storage
from uploads.files.deletion import delete_stored_file, delete_upload
from uploads.models import Upload

logger = logging.getLogger(__name__)

# A visitor's unused upload is deleted after this, and so is a stored file without a row.
MAX_UNUSED_AGE = timedelta(days=1)
# Only a process that is killed while it stores a file leaves one without a row. More of them at once belong to another
# database: one that was lost, a later state of this one, or another arena's.
MAX_STRAYS, STRAYS_PER_UPLOAD = 3, 0.02


def delete_expired() -> None:
    """Delete expired uploads, retry deletions that the storage refused, and remove files without a row."""
    for upload in Upload.objects.expired(MAX_UNUSED_AGE).iterator():
        with _log_errors(upload.public_id), suppress(UploadInUse):
            delete_upload(upload)
    for upload in Upload.objects.filter(deleted_at__isnull=False).exclude(stored_as="").iterator():
        with _log_errors(upload.stored_as):
            delete_stored_file(upload)
    _delete_strays()


def _delete_strays() -> None:
    """Delete files without a row, if they are few and were stored after the first upload of this database."""
    strays = [
        (name, stored_at)
        for name, stored_at in storage.files_older_than(MAX_UNUSED_AGE)
        if not Upload.objects.filter(stored_as=name).exists()
    ]
    first = Upload.objects.order_by("pk").values_list("created_at", flat=True).first()
    own = [name for name, stored_at in strays if first is not None and stored_at >= first]
    if len(own) > max(MAX_STRAYS, STRAYS_PER_UPLOAD * Upload.objects.count()):
        own = []
    for name in own:
        with _log_errors(name):
            storage.delete(name)
    if kept := len(strays) - len(own):
        logger.error("%s stored files are unknown to this database and were kept: docs/operating.md, Files", kept)


@contextmanager
def _log_errors(name: str) -> Iterator[None]:
    """Log errors, so that other files are still deleted; the next run tries again."""
    try:
        yield
    except Exception:  # each storage backend raises its own exceptions
        logger.exception("%s was not deleted", name)
