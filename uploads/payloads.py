from typing import cast

from uploads.models import Upload
from uploads.payload_types import UploadKind, UploadPayload, UploadState


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
        "characters": upload.characters,
        "error": upload.error or None,
        "created_at": upload.created_at,
    }
