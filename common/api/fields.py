from typing import Any, NoReturn

from django.utils.translation import gettext as _
from rest_framework import serializers


class TextField(serializers.CharField):
    """Text that an action cleans and checks, for pages and the API alike."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **kwargs)
        self.validators = []  # DRF's sentences about characters would differ from the page's


class ChoiceField(serializers.ChoiceField):
    def fail(self, key: str, **kwargs: Any) -> NoReturn:
        if key == "invalid_choice":
            choices = ", ".join(str(choice) for choice in self.choices if choice != "")
            raise serializers.ValidationError(_("Choose one of: %(choices)s.") % {"choices": choices}, code=key)
        super().fail(key, **kwargs)
