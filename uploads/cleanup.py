"""Files that nobody wants any more, and files that nobody knows."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from uploads import storage
from uploads.deletion import delete_upload, forget_file
from uploads.errors import IsBeingAnswered
from uploads.models import Upload

logger = logging.getLogger(__name__)

# A file that a visitor brought and never used is kept for so long, and a file without a row.
KEPT_UNUSED = timedelta(days=1)


def tidy_up() -> None:
    """Delete what is unwanted; finish deletions that the storage had refused; remove files without a row."""
    for upload in Upload.objects.unwanted(KEPT_UNUSED).iterator():
        with _or_next_time(upload.public_id), suppress(IsBeingAnswered):
            delete_upload(upload)
    for upload in Upload.objects.filter(deleted_at__isnull=False).exclude(stored_as="").iterator():
        with _or_next_time(upload.stored_as):
            forget_file(upload)
    for name in list(storage.names_older_than(KEPT_UNUSED)):
        if not Upload.objects.filter(stored_as=name).exists():
            with _or_next_time(name):
                storage.forget(name)


@contextmanager
def _or_next_time(name: str) -> Iterator[None]:
    """One that cannot be deleted, or that the storage will not give up, holds up no other."""
    try:
        yield
    except Exception:  # each kind of storage raises its own
        logger.exception("%s stays for now", name)
