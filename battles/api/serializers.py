"""Serializers of requests; the actions check what needs the database."""

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers

from battles import feedback
from battles.auto.fields import ContextSerializer, DialField, max_cost_field
from battles.auto.options import AUTO, DEFAULT_DIAL, REQUESTED_MODES, AutoOptions, RoutingContext
from battles.models import Attachment, Battle, Vote
from battles.prompting.lineup import BattleRequest, Filters
from battles.prompting.proof_of_work import MAX_PROOF_CHARACTERS
from common.api.fields import ChoiceField, TextField
from common.api.serializers import StrictSerializer
from common.payload_types import JsonObject
from common.text.storable import has_unstorable
from models_registry.models import LanguageModel


class PromptSerializer(serializers.Serializer[None]):
    prompt = TextField()
    attachments = serializers.ListField(
        child=serializers.CharField(max_length=40), max_length=Attachment.MAX_PER_TURN, required=False, default=list
    )


class FiltersSerializer(StrictSerializer):
    unknown_field = gettext_lazy("There is no filter “%(name)s”.")

    license_kind = ChoiceField(choices=LanguageModel.KNOWN_LICENSE_KINDS, required=False)
    min_size_b = serializers.DecimalField(max_digits=9, decimal_places=3, min_value=Decimal(0), required=False)
    needs_images = serializers.BooleanField(required=False)
    max_size_b = serializers.DecimalField(max_digits=9, decimal_places=3, min_value=Decimal(0), required=False)

    def validate(self, filters: JsonObject) -> Filters:
        sizes = {name: float(filters[name]) for name in ("min_size_b", "max_size_b") if name in filters}
        return Filters(filters.get("license_kind", ""), **sizes, needs_images=filters.get("needs_images", False))


class StartBattleSerializer(PromptSerializer):
    mode = ChoiceField(choices=REQUESTED_MODES, default=Battle.Mode.BLIND)
    models = serializers.ListField(child=serializers.CharField(max_length=LanguageModel.MAX_NAME), default=list)
    filters = FiltersSerializer(default=Filters)
    proof = serializers.CharField(max_length=MAX_PROOF_CHARACTERS, default="", allow_blank=True)
    consent = serializers.BooleanField(default=False)
    context = ContextSerializer(required=False)  # type: ignore[assignment]  # hides Field.context
    dial = DialField(required=False)
    max_cost = max_cost_field()

    def validate(self, data: JsonObject) -> JsonObject:
        """Refuse options of another mode: a client that forgets the mode relies on them."""
        if data["mode"] != AUTO and (unused := [name for name in ("context", "dial") if name in data]):
            raise serializers.ValidationError({name: [_("It applies to the mode “auto” only.")] for name in unused})
        if data["mode"] == AUTO and data["filters"] != Filters():
            raise serializers.ValidationError({"filters": [_("Filters apply to blind battles only.")]})
        return data


class StartSessionSerializer(StartBattleSerializer):
    team = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Address of a team; empty: personal."
    )


def battle_request(data: JsonObject) -> BattleRequest:
    """data: validated by StartBattleSerializer."""
    models, files = tuple(data["models"]), tuple(data["attachments"])
    if data["mode"] == AUTO:
        context, dial = data.get("context", RoutingContext()), data.get("dial", DEFAULT_DIAL)
        auto = AutoOptions(context, dial, data["max_cost"])
        return BattleRequest(models=models, attachments=files, consent=data["consent"], auto=auto)
    return BattleRequest(Battle.Mode(data["mode"]), models, data["filters"], files, data["consent"])


class CastVoteSerializer(serializers.Serializer[None]):
    """answers: of a review with questions, a step's number or null for each; left out, they are no answers."""

    choice = ChoiceField(choices=Vote.Choice.choices)
    answers = serializers.ListField(
        child=serializers.IntegerField(allow_null=True, min_value=1, max_value=9), max_length=9, required=False
    )


class ReportBattleSerializer(serializers.Serializer[None]):
    reason = TextField()


class StarsSerializer(serializers.Serializer[None]):
    stars = serializers.IntegerField(min_value=1, max_value=5)


class FeedbackSerializer(serializers.Serializer[None]):
    tags = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(max_length=40), max_length=100), default=dict
    )
    comment = serializers.CharField(max_length=feedback.MAX_CHARACTERS, allow_blank=True, default="")

    def validate_tags(self, tags: dict[str, list[str]]) -> dict[str, list[str]]:
        unknown = set(tags) - {"left", "right"}
        if unknown:
            raise serializers.ValidationError(_("Tags belong to “left” or “right”."))
        return {side: sorted(set(names)) for side, names in tags.items()}


class ChangeSessionSerializer(serializers.Serializer[None]):
    title = serializers.CharField(max_length=120, required=False)
    archived = serializers.BooleanField(required=False)
    shared = serializers.BooleanField(required=False, help_text="Whether the session's team can read it.")

    def validate_title(self, title: str) -> str:
        if has_unstorable(title):
            raise serializers.ValidationError(_("The title contains an invalid character."))
        return title
