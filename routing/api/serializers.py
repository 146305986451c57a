from django.utils.translation import gettext as _
from rest_framework import serializers

from battles.auto.fields import ContextSerializer, DialField, max_cost_field
from battles.auto.options import DEFAULT_DIAL, MAX_FIRST_TOKEN_MS, RoutingContext
from battles.auto.port import RoutingRequest
from common.api.fields import ChoiceField, TextField
from common.payload_types import JsonObject
from routing.api.messages import Conversation, read_messages, single_prompt
from routing.models import DecisionOutcome

MAX_MODELS = 200


class RouteRequestSerializer(serializers.Serializer[None]):
    prompt = TextField(required=False)
    messages = serializers.ListField(child=serializers.JSONField(), required=False)
    context = ContextSerializer(default=RoutingContext)  # type: ignore[assignment]  # hides Field.context
    dial = DialField(default=DEFAULT_DIAL)
    max_cost = max_cost_field()
    max_first_token_ms = serializers.IntegerField(
        min_value=1, max_value=MAX_FIRST_TOKEN_MS, required=False, allow_null=True, default=None
    )
    models = serializers.ListField(child=serializers.CharField(max_length=120), default=list, max_length=MAX_MODELS)

    def validate(self, data: JsonObject) -> JsonObject:
        if ("prompt" in data) == ("messages" in data):
            raise serializers.ValidationError({"prompt": [_("Send either a prompt or messages.")]})
        return data

    def conversation(self) -> Conversation:
        """Raises InvalidInput."""
        data = self.validated_data
        return single_prompt(data["prompt"]) if "prompt" in data else read_messages(data["messages"])

    def routing_request(self, *, token: int | None) -> RoutingRequest:
        """Raises InvalidInput."""
        data, conversation = self.validated_data, self.conversation()
        return RoutingRequest(
            conversation.prompts,
            needs_images=conversation.has_images,
            needs_tools=conversation.has_tools,
            characters=conversation.characters,
            context=data["context"],
            dial=data["dial"],
            max_cost=data["max_cost"],
            max_first_token_ms=data["max_first_token_ms"],
            models=tuple(dict.fromkeys(data["models"])),
            token=token,
        )


class OutcomeSerializer(serializers.Serializer[None]):
    good = serializers.BooleanField(required=False)
    better = ChoiceField(choices=DecisionOutcome.Better.choices, required=False)

    def validate(self, data: JsonObject) -> JsonObject:
        if len(data) != 1:
            raise serializers.ValidationError({"good": [_("Send either `good` or `better`.")]})
        return data
