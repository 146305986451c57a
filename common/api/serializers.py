from typing import Any, ClassVar

from django.utils.functional import Promise
from rest_framework import serializers


class StrictSerializer(serializers.Serializer[None]):
    """Refuses unknown fields: a client that misspells one relies on it."""

    # With %(name)s.
    unknown_field: ClassVar[Promise]

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError([str(self.unknown_field) % {"name": name} for name in unknown])
        return super().to_internal_value(data)
