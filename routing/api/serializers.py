from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from battles.auto.fields import ContextSerializer, DialField, max_cost_field
from battles.auto.options import DEFAULT_DIAL, MAX_FIRST_TOKEN_MS, RoutingContext
from battles.auto.port import RoutingRequest, fetching_models
from battles.prompting.messages import conversation_length
from battles.prompting.prompt import clean_prompt
from common.api.fields import ChoiceField, TextField
from common.conversation.errors import BadField
from common.conversation.json_values import check_size, strings_in
from common.conversation.messages import Conversation, Limits, parse_conversation
from common.errors import InvalidInput
from common.payload_types import Json, JsonObject
from common.text.numbers import format_numbers
from common.text.storable import has_unstorable
from models_registry.models import LanguageModel
from routing.models import DecisionOutcome

MAX_MODELS = 200
_NESTED = gettext_lazy("The messages are nested too deeply, or have too many values.")
_SHAPE = gettext_lazy("Send a list of messages, each with a role, and at most %(pictures)s pictures and files.")
# Sentences by code of BadField.
_SENTENCES = {
    "too_deep": _NESTED,
    "too_many_values": _NESTED,
    "invalid_characters": gettext_lazy("A message contains an invalid character (NUL or half of a surrogate pair)."),
    "context_length_exceeded": gettext_lazy("The messages may have at most %(characters)s characters."),
    "stored_object": gettext_lazy("Files and other things that a provider stores cannot be used here."),
    "invalid_address": gettext_lazy("Send pictures and files as data URLs, or at an address with https://."),
    "private_address": gettext_lazy(
        "This address is in a private network, or not the usual spelling of one in the internet."
    ),
}


def read_messages(messages: list[Json]) -> Conversation:
    """Parse a conversation to decide about. Raises InvalidInput naming `messages`, in the request's language."""
    limits = Limits(settings.ARENA_GATEWAY_CHARACTERS, settings.ARENA_GATEWAY_PICTURES)
    try:
        check_size(messages)
        if any(map(has_unstorable, strings_in(messages))):
            raise BadField("The messages contain invalid characters.", "messages", "invalid_characters")
        return parse_conversation(messages, limits)
    except BadField as error:
        values = format_numbers(characters=limits.characters, pictures=limits.media)
        sentence = _SENTENCES.get(error.code, _SHAPE) % values
        if "." in error.param:
            sentence = f"{error.param}: {sentence}"
        raise InvalidInput(sentence, fields={"messages": [sentence]}) from error


class RouteRequestSerializer(serializers.Serializer[None]):
    prompt = TextField(required=False)
    team = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Address of a team; empty: personal."
    )
    messages = serializers.ListField(child=serializers.JSONField(), required=False)
    context = ContextSerializer(default=RoutingContext)  # type: ignore[assignment]  # hides Field.context
    dial = DialField(default=DEFAULT_DIAL)
    max_cost = max_cost_field()
    max_first_token_ms = serializers.IntegerField(
        min_value=1, max_value=MAX_FIRST_TOKEN_MS, required=False, allow_null=True, default=None
    )
    models = serializers.ListField(
        child=serializers.CharField(max_length=LanguageModel.MAX_NAME), default=list, max_length=MAX_MODELS
    )

    def validate(self, data: JsonObject) -> JsonObject:
        if ("prompt" in data) == ("messages" in data):
            raise serializers.ValidationError({"prompt": [_("Send either a prompt or messages.")]})
        return data

    def routing_request(self, *, token: int | None, team_id: int | None) -> RoutingRequest:
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
            models=fetching_models(models, team_id=team_id) if conversation.has_addresses else models,
            token=token,
            team_id=team_id,
        )


class OutcomeSerializer(serializers.Serializer[None]):
    good = serializers.BooleanField(required=False)
    better = ChoiceField(choices=DecisionOutcome.Better.choices, required=False)

    def validate(self, data: JsonObject) -> JsonObject:
        if len(data) != 1:
            raise serializers.ValidationError({"good": [_("Send either `good` or `better`.")]})
        return data
