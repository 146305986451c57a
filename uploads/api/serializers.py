"""What the API gives of an upload, and takes for one; shapes only."""

from typing import Any

from rest_framework import serializers

from uploads.models import Upload


class NewUploadSerializer(serializers.Serializer[Any]):
    """For the description of the API: what comes is read from the request itself."""

    file = serializers.FileField()


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
