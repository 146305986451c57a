"""Reading what was uploaded, in a worker: claim it, read it in a guarded child, store what was found."""

from typing import Any

from django.db import transaction

from common.text.storable import storable
from uploads import storage
from uploads.models import Extraction, Upload
from uploads.reading.findings import Picture, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.sniffing import Kind


def read_upload(upload_id: int) -> None:
    """May be asked for twice or by two workers: one of them reads. What ends in the middle, the sweeper finds."""
    upload = Upload.objects.claim(upload_id)
    if upload is None:
        return
    kind: Kind = "image" if upload.is_image else "document"
    try:
        found = read(storage.content_of(upload.stored_as), kind)
    except Unreadable as error:
        Upload.objects.held(upload).update(state=Upload.State.FAILED, error=error.reason, lease_until=None)
        return
    except FileNotFoundError:  # it was deleted meanwhile, or its storage lost it
        Upload.objects.held(upload).update(state=Upload.State.FAILED, error=Reason.DAMAGED, lease_until=None)
        return
    store(upload, found)


@transaction.atomic
def store(upload: Upload, found: Text | Picture) -> None:
    """What was read, unless somebody else has claimed the upload meanwhile."""
    pages = [storable(page) for page in found.pages] if isinstance(found, Text) else []
    held = Upload.objects.held(upload).update(
        state=Upload.State.READY, lease_until=None,
        pages=len(pages) or None, characters=sum(map(len, pages)) if pages else None,
    )  # fmt: skip
    if not held:
        return
    Extraction.objects.create(
        upload=upload, pages=pages, version=found.reader,
        **_picture_columns(found),
    )  # fmt: skip


def _picture_columns(found: Text | Picture) -> dict[str, Any]:
    if isinstance(found, Text):
        return {}
    return {
        "image": found.content, "image_type": found.media_type, "width": found.width, "height": found.height,
    }  # fmt: skip
