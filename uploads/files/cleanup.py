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


def delete_expired() -> None:
    """Delete expired uploads, retry deletions that the storage refused, and remove files without a row."""
    for upload in Upload.objects.expired(MAX_UNUSED_AGE).iterator():
        with _log_errors(upload.public_id), suppress(UploadInUse):
            delete_upload(upload)
    for upload in Upload.objects.filter(deleted_at__isnull=False).exclude(stored_as="").iterator():
        with _log_errors(upload.stored_as):
            delete_stored_file(upload)
    for name in list(storage.names_older_than(MAX_UNUSED_AGE)):
        if not Upload.objects.filter(stored_as=name).exists():
            with _log_errors(name):
                storage.delete(name)


@contextmanager
def _log_errors(name: str) -> Iterator[None]:
    """Log errors, so that other files are still deleted; the next run tries again."""
    try:
        yield
    except Exception:  # each storage backend raises its own exceptions
        logger.exception("%s was not deleted", name)
