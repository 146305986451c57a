"""What people type into the arena's pages."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from battles.models import Vote
from battles.prompts import accepted_prompt
from common.errors import InvalidInput


class PromptField(forms.CharField):
    """Checked by the one rule that the API uses too; nothing is stripped or cut before it has looked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, widget=forms.Textarea(attrs={"rows": 3}), **kwargs)
        self.validators = []

    def clean(self, value: Any) -> str:
        try:
            return accepted_prompt(value or "")
        except InvalidInput as error:
            raise forms.ValidationError(error.detail) from error


class PromptForm(forms.Form):
    prompt = PromptField(label=_("Your prompt"))

    @property
    def most_characters(self) -> int:
        return int(settings.ARENA_PROMPT_CHARACTERS)


class VoteForm(forms.Form):
    choice = forms.ChoiceField(choices=Vote.Choice.choices)
