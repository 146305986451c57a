from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers

from accounts.models import Role, Scope, Team
from accounts.teams.actions import MAX_USES
from accounts.teams.forms import MAX_DAYS
from common.api.fields import ChoiceField
from common.payload_types import JsonObject


class NewTokenSerializer(serializers.Serializer[None]):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=ChoiceField(choices=Scope.choices), allow_empty=False)
    expires_at = serializers.DateTimeField(allow_null=True, default=None, help_text="Null: never.")
    keeps_texts = serializers.BooleanField(default=False, help_text="With the scope `gateway`: store texts.")
    caches_answers = serializers.BooleanField(
        default=False, help_text="With the scope `gateway`: answer repeated requests at temperature 0 from a cache."
    )

    team = serializers.CharField(
        required=False, allow_blank=True, max_length=40, help_text="Address of a team; empty: personal."
    )

    def validate_scopes(self, scopes: list[str]) -> list[Scope]:
        return [scope for scope in Scope if scope in scopes]

    def validate_expires_at(self, moment: datetime | None) -> datetime | None:
        if moment is not None and moment <= timezone.now():
            raise serializers.ValidationError(_("This moment is over."))
        return moment


class ChangeTeamSerializer(serializers.Serializer[None]):
    name = serializers.CharField(max_length=80, required=False)
    slug = serializers.CharField(
        validators=Team._meta.get_field("slug").validators, required=False, help_text="Its address."
    )
    colour = ChoiceField(choices=Team.Colour.choices, required=False)


class NewTeamSerializer(ChangeTeamSerializer):
    name = serializers.CharField(max_length=80)
    slug = serializers.CharField(validators=Team._meta.get_field("slug").validators, help_text="Its address.")


class RoleSerializer(serializers.Serializer[None]):
    role = ChoiceField(choices=Role.choices)


class NewInvitationSerializer(RoleSerializer):
    uses = serializers.IntegerField(min_value=1, max_value=MAX_USES, default=1)
    days = serializers.IntegerField(min_value=1, max_value=MAX_DAYS, default=14, help_text="How long it works.")
    email = serializers.EmailField(
        allow_blank=True, default="", help_text="Of the only person who can use the link; then `uses` is 1."
    )

    def validate(self, data: JsonObject) -> JsonObject:
        if data["email"] and data["uses"] > 1:
            raise serializers.ValidationError({"uses": [_("A link for one address has one use.")]})
        return data
