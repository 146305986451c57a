from rest_framework import serializers


class NewUploadSerializer(serializers.Serializer[None]):
    """Request for OpenAPI only; the view reads the file from the request itself."""

    file = serializers.FileField()
