from typing import Any

from uploads.models import Upload


def upload_summary(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.public_id,
        "name": upload.name,
        "media_type": upload.media_type,
        "kind": upload.kind,
        "size": upload.size,
        "sha256": upload.sha256,
        "state": upload.state,
        "pages": upload.pages,
        "characters": upload.characters,
        "error": upload.error or None,
        "created_at": upload.created_at,
    }
