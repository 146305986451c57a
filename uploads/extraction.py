from typing import Any

import msgspec
from django.db import transaction

from common.text.storable import storable
from uploads.files import storage
from uploads.models import Extraction, Upload
from uploads.reading.findings import Picture, Reason, Text, Unreadable
from uploads.reading.guard import read
from uploads.reading.sniffing import Kind


def read_upload(upload_id: int) -> None:
    """Read an upload unless another worker has claimed it; the sweeper requeues interrupted reads."""
    upload = Upload.objects.claim(upload_id)
    if upload is None:
        return
    kind: Kind = "image" if upload.is_image else "document"
    try:
        on_progress = Upload.objects.held(upload).record_progress
        result = read(storage.read(upload.stored_as), kind, upload.media_type, on_progress)
    except Unreadable as error:
        Upload.objects.held(upload).fail(error.reason)
        return
    except FileNotFoundError:  # deleted since the claim, or lost by the storage
        Upload.objects.held(upload).fail(Reason.DAMAGED)
        return
    store(upload, result)


@transaction.atomic
def store(upload: Upload, result: Text | Picture) -> None:
    """Store the result, unless another worker has claimed the upload since."""
    pages = [storable(page) for page in result.pages] if isinstance(result, Text) else []
    is_held = Upload.objects.held(upload).update(
        state=Upload.State.READY, lease_until=None, pages_read=None,
        pages=len(pages) or None, characters=sum(map(len, pages)) if pages else None,
        notes=msgspec.to_builtins(result.notes), encoding=result.encoding if isinstance(result, Text) else "",
    )  # fmt: skip
    if not is_held:
        return
    Extraction.objects.create(
        upload=upload, pages=pages, version=result.reader,
        **_picture_columns(result),
    )  # fmt: skip


def store_again(upload: Upload, result: Text) -> None:
    """Store a ready text that was read in another encoding."""
    pages = [storable(page) for page in result.pages]
    upload.characters, upload.encoding = sum(map(len, pages)), result.encoding
    upload.notes = msgspec.to_builtins(result.notes)
    upload.save(update_fields=["characters", "encoding", "notes"])
    upload.extraction.pages = pages
    upload.extraction.save(update_fields=["pages"])


def _picture_columns(result: Text | Picture) -> dict[str, Any]:
    if isinstance(result, Text):
        return {}
    return {
        "image": result.content, "image_type": result.media_type, "width": result.width, "height": result.height,
    }  # fmt: skip
