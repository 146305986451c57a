from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from battles.auto.options import DIALS, MAX_WORKFLOW_CHARACTERS, RoutingContext
from common.api.serializers import StrictSerializer
from common.payload_types import JsonObject
from common.text.storable import has_unstorable


@extend_schema_field(
    {"oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "enum": list(DIALS)}]}
)
class DialField(serializers.Field[float, object, float, object]):
    """A number from 0 to 1, or the name of one in DIALS."""

    def to_internal_value(self, data: object) -> float:
        if isinstance(data, str) and data in DIALS:
            return DIALS[data]
        # Not float(data): "1e400" would be infinite, "nan" a number. Infinity and NaN are in no range.
        if isinstance(data, int | float) and not isinstance(data, bool) and 0 <= data <= 1:
            return float(data)
        raise serializers.ValidationError(
            _("A number from 0 (cheapest) to 1 (best), or one of: %(names)s.") % {"names": ", ".join(DIALS)}
        )

    def to_representation(self, value: float) -> float:
        return value


class ContextSerializer(StrictSerializer):
    # A rule may keep data of the caller on one model.
    unknown_field = gettext_lazy("There is no context “%(name)s”.")

    tools = serializers.BooleanField(default=False)
    data_loaded = serializers.BooleanField(default=False)
    workflow = serializers.CharField(max_length=MAX_WORKFLOW_CHARACTERS, default="", allow_blank=True)

    def validate_workflow(self, workflow: str) -> str:
        if has_unstorable(workflow):
            raise serializers.ValidationError(_("It contains an invalid character."))
        return workflow

    def validate(self, context: JsonObject) -> RoutingContext:
        return RoutingContext(context["tools"], context["data_loaded"], context["workflow"])


def max_cost_field() -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=14, decimal_places=8, min_value=Decimal(0), required=False, allow_null=True, default=None
    )
