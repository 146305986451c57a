from rest_framework import serializers


class NewUploadSerializer(serializers.Serializer[None]):
    """Describes the request for OpenAPI; the view reads the file from the request itself."""

    file = serializers.FileField()
