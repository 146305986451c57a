from typing import Any, NoReturn

from django.utils.translation import gettext as _
from rest_framework import serializers


class ChoiceField(serializers.ChoiceField):
    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if key == "invalid_choice":
            choices = ", ".join(str(choice) for choice in self.choices if choice != "")
            raise serializers.ValidationError(_("Choose one of: %(choices)s.") % {"choices": choices}, code=key)
        super().fail(key, **kwargs)
