from typing import cast

import msgspec

from uploads.models import Upload
from uploads.notes import note_message
from uploads.payload_types import UploadKind, UploadNote, UploadPayload, UploadState
from uploads.reading.findings import Note


def upload_summary(upload: Upload) -> UploadPayload:
    return {
        "id": upload.public_id,
        "name": upload.name,
        "media_type": upload.media_type,
        "kind": cast(UploadKind, upload.kind),
        "size": upload.size,
        "sha256": upload.sha256,
        "state": cast(UploadState, upload.state),
        "pages": upload.pages,
        "pages_read": upload.pages_read,
        "characters": upload.characters,
        "encoding": upload.encoding or None,
        "notes": [_note(note) for note in msgspec.convert(upload.notes, list[Note])],
        "error": upload.error or None,
        "created_at": upload.created_at,
    }


def _note(note: Note) -> UploadNote:
    return {"kind": note.kind, "count": note.count or None, "detail": note.detail, "message": note_message(note)}
