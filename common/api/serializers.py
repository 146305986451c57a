from functools import cache
from typing import Any, ClassVar, cast

from django.utils.functional import Promise
from rest_framework import serializers

from common.payload_types import JsonObject


def validated_data(serializer: type[serializers.Serializer[None]], data: object) -> JsonObject:
    """Raises ValidationError. One instance, without a context, serves all requests: a new one copies its fields."""
    return cast(JsonObject, _instance(serializer).run_validation(data))


@cache
def _instance(serializer: type[serializers.Serializer[None]]) -> serializers.Serializer[None]:
    return serializer()


class StrictSerializer(serializers.Serializer[None]):
    """Refuses unknown fields: a client that misspells one relies on it."""

    # Sentence with %(name)s.
    unknown_field: ClassVar[Promise]

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError([str(self.unknown_field) % {"name": name} for name in unknown])
        return super().to_internal_value(data)
