from typing import Any

from rest_framework import serializers


class NewUploadSerializer(serializers.Serializer[Any]):
    """Describes the request for OpenAPI; the view reads the file from the request itself."""

    file = serializers.FileField()
