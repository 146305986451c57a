"""What people type into the arena's pages."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from battles.lineups import Filters, Wish
from battles.models import Battle, Session, Vote
from battles.prompts import accepted_prompt
from common.errors import InvalidInput
from models_registry.models import LanguageModel

# What people call the sizes of models: billions of parameters, from and up to.
SIZES: dict[str, tuple[float | None, float | None]] = {"small": (None, 4), "medium": (4, 20), "large": (20, None)}


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


class ModelsField(forms.MultipleChoiceField):
    """Models' ids in the order of their pickers; an empty one is left to the draw. Who may be had knows the action."""

    def to_python(self, value: Any) -> list[str]:
        return [slug for slug in super().to_python(value) if slug]

    def valid_value(self, value: Any) -> bool:
        return True


class StartForm(PromptForm):
    """A prompt, and who is to answer it."""

    mode = forms.ChoiceField(choices=Battle.Mode, required=False)
    models = ModelsField(required=False)
    license_kind = forms.ChoiceField(choices=[("", _("any")), *LanguageModel.LicenseKind.choices], required=False)
    size = forms.ChoiceField(
        choices=[
            ("", _("any")), ("small", _("up to 4 B")), ("medium", _("4 to 20 B")), ("large", _("20 B and more")),
        ],
        required=False,
    )  # fmt: skip

    @property
    def wish(self) -> Wish:
        said = self.cleaned_data
        fewest, most = SIZES.get(said["size"], (None, None))
        filters = Filters(said["license_kind"], fewest, most)
        return Wish(Battle.Mode(said["mode"] or Battle.Mode.BLIND), tuple(said["models"]), filters)

    def start(self, begin: Callable[[str, Wish], Battle]) -> Battle | None:
        """What `begin` makes of the prompt and the wish; None when the form now says what was wrong with it."""
        if not self.is_valid():
            return None
        try:
            return begin(self.cleaned_data["prompt"], self.wish)
        except InvalidInput as error:
            self.add_error(None, error.detail)
            return None


class VoteForm(forms.Form):
    choice = forms.ChoiceField(choices=Vote.Choice.choices)


class StarsForm(forms.Form):
    stars = forms.IntegerField(min_value=1, max_value=5)


class RenameForm(forms.ModelForm):  # type: ignore[type-arg]
    title = forms.CharField(label=_("Title"), max_length=120)

    class Meta:
        model = Session
        fields = ["title"]
