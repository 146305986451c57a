from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers

from accounts.models import Scope
from common.api.fields import ChoiceField


class NewTokenSerializer(serializers.Serializer[None]):
    name = serializers.CharField(max_length=100)
    scopes = serializers.ListField(child=ChoiceField(choices=Scope.choices), allow_empty=False)
    expires_at = serializers.DateTimeField(allow_null=True, default=None, help_text="Null: never.")
    keeps_texts = serializers.BooleanField(default=False, help_text="With the scope `gateway`: store texts.")
    caches_answers = serializers.BooleanField(
        default=False, help_text="With the scope `gateway`: answer repeated requests at temperature 0 from a cache."
    )

    def validate_scopes(self, scopes: list[str]) -> list[Scope]:
        return [scope for scope in Scope if scope in scopes]

    def validate_expires_at(self, moment: datetime | None) -> datetime | None:
        if moment is not None and moment <= timezone.now():
            raise serializers.ValidationError(_("This moment is over."))
        return moment
