"""Files that nobody wants any more, and files that nobody knows."""

from datetime import timedelta

from uploads import actions, storage
from uploads.errors import IsBeingAnswered
from uploads.models import Upload

# A file that a visitor brought and never used is kept for so long, and a file without a row.
KEPT_UNUSED = timedelta(days=1)


def tidy_up() -> None:
    """Delete what is unwanted; finish deletions that the storage had refused; remove files without a row."""
    for upload in Upload.objects.unwanted(KEPT_UNUSED).iterator():
        try:
            actions.delete_upload(upload)
        except IsBeingAnswered:
            continue  # next time
    for upload in Upload.objects.filter(deleted_at__isnull=False).exclude(stored_as="").iterator():
        actions.forget_file(upload)
    for name in list(storage.names_older_than(KEPT_UNUSED)):
        if not Upload.objects.filter(stored_as=name).exists():
            storage.forget(name)
