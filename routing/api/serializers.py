from django.utils.translation import gettext as _
from rest_framework import serializers

from battles.auto.fields import ContextSerializer, DialField, max_cost_field
from battles.auto.options import DEFAULT_DIAL, MAX_FIRST_TOKEN_MS, RoutingContext
from battles.auto.port import RoutingRequest, fetching_models
from battles.prompting.messages import conversation_length
from battles.prompting.prompt import clean_prompt
from common.api.fields import ChoiceField, TextField
from common.payload_types import JsonObject
from routing.api.messages import read_messages
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

    def routing_request(self, *, token: int | None) -> RoutingRequest:
        """Raises InvalidInput."""
        data = self.validated_data
        if "prompt" in data:
            conversation = read_messages([{"role": "user", "content": clean_prompt(data["prompt"])}])
        else:
            conversation = read_messages(data["messages"])
        models = tuple(dict.fromkeys(data["models"]))
        return RoutingRequest(
            tuple(conversation.prompts) or ("",),
            needs_images=bool(conversation.images),
            needs_tools=conversation.has_tool_calls,
            characters=conversation_length(conversation.messages),
            context=data["context"],
            dial=data["dial"],
            max_cost=data["max_cost"],
            max_first_token_ms=data["max_first_token_ms"],
            models=fetching_models(models) if conversation.has_addresses else models,
            token=token,
        )


class OutcomeSerializer(serializers.Serializer[None]):
    good = serializers.BooleanField(required=False)
    better = ChoiceField(choices=DecisionOutcome.Better.choices, required=False)

    def validate(self, data: JsonObject) -> JsonObject:
        if len(data) != 1:
            raise serializers.ValidationError({"good": [_("Send either `good` or `better`.")]})
        return data
