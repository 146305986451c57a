"""What people type into the arena's pages."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles import feedback
from battles.models import Attachment, Battle, Position, Session, Vote
from battles.prompting import consent
from battles.prompting.lineup import Filters, Wish
from battles.prompting.prompt import accepted_prompt
from battles.prompting.proof_of_work import MOST_OF_A_PROOF
from common.errors import InvalidInput
from models_registry.models import LanguageModel
from uploads.models import Upload

# What people call the sizes of models: billions of parameters, from and up to.
SIZES: dict[str, tuple[float | None, float | None]] = {"small": (None, 4), "medium": (4, 20), "large": (20, None)}


class PromptField(forms.CharField):
    """Checked by the one rule that the API uses too; nothing is stripped or cut before it has looked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, widget=forms.Textarea(attrs={"rows": 3}), **kwargs)
        self.validators = []

    def clean(self, value: str | None) -> str:
        try:
            return accepted_prompt(value or "")
        except InvalidInput as error:
            raise forms.ValidationError(error.detail) from error


class IdsField(forms.MultipleChoiceField):
    """Ids in the order in which they were chosen, without empty ones. Which may be had knows the action."""

    def to_python(self, value: object) -> list[str]:
        return [public_id for public_id in super().to_python(value) if public_id]

    def valid_value(self, value: object) -> bool:
        return True


class PromptForm(forms.Form):
    prompt = PromptField(label=_("Your prompt"))
    attachments = IdsField(required=False)

    def __init__(self, *args: Any, actor: Actor | None = None, **kwargs: Any) -> None:
        """actor: whose files may be attached."""
        super().__init__(*args, **kwargs)
        self._actor = actor

    def chips(self) -> list[Upload]:
        """The files that are attached so far; no query without any."""
        wanted = [public_id for public_id in self["attachments"].value() or () if public_id.isprintable()]
        if not wanted or self._actor is None:
            return []
        mine = Upload.objects.owned_by(self._actor).kept().filter(public_id__in=wanted[: Attachment.MAX_PER_TURN])
        return sorted(mine, key=lambda upload: wanted.index(upload.public_id))


class StartForm(PromptForm):
    """A prompt, and who is to answer it."""

    mode = forms.ChoiceField(choices=Battle.Mode, required=False)
    models = IdsField(required=False)
    license_kind = forms.ChoiceField(choices=[("", _("any")), *LanguageModel.LicenseKind.choices], required=False)
    size = forms.ChoiceField(
        choices=[
            ("", _("any")), ("small", _("up to 4 B")), ("medium", _("4 to 20 B")), ("large", _("20 B and more")),
        ],
        required=False,
    )  # fmt: skip
    needs_images = forms.BooleanField(required=False)
    proof = forms.CharField(required=False, max_length=MOST_OF_A_PROOF)
    # The version of the words that were read: whoever agreed to others has not agreed to those of now.
    consent = forms.CharField(required=False)

    def __init__(self, *args: Any, actor: Actor | None = None, **kwargs: Any) -> None:
        super().__init__(*args, actor=actor, **kwargs)
        self.consent_text, self.consent_version = consent.text(), consent.version()
        if actor is not None and not self.is_bound:
            self.initial.setdefault("consent", consent.last_given(actor))

    @property
    def wish(self) -> Wish:
        said = self.cleaned_data
        fewest, most = SIZES.get(said["size"], (None, None))
        filters = Filters(said["license_kind"], fewest, most, said["needs_images"])
        mode = Battle.Mode(said["mode"] or Battle.Mode.BLIND)
        agrees = bool(said["consent"]) and said["consent"] == self.consent_version
        return Wish(mode, tuple(said["models"]), filters, tuple(said["attachments"]), agrees)

    def start(self, begin: Callable[[str, Wish, str], Battle]) -> Battle | None:
        """What `begin` makes of the prompt, the wish and the proof; None when the form now says what was wrong."""
        if not self.is_valid():
            return None
        try:
            return begin(self.cleaned_data["prompt"], self.wish, self.cleaned_data["proof"])
        except InvalidInput as error:
            self.add_error(None, error.detail)
            return None


class VoteForm(forms.Form):
    choice = forms.ChoiceField(choices=Vote.Choice.choices)


class FeedbackForm(forms.Form):
    """Tags of either side and a comment."""

    left = forms.MultipleChoiceField(choices=feedback.TAGS, required=False)
    right = forms.MultipleChoiceField(choices=feedback.TAGS, required=False)
    comment = forms.CharField(max_length=feedback.MOST_CHARACTERS, required=False)

    @property
    def tags(self) -> dict[str, list[str]]:
        return {side: tags for side in Position.values if (tags := sorted(set(self.cleaned_data[side])))}


class StarsForm(forms.Form):
    stars = forms.IntegerField(min_value=1, max_value=5)


class RenameForm(forms.ModelForm):  # type: ignore[type-arg]
    title = forms.CharField(label=_("Title"), max_length=120)

    class Meta:
        model = Session
        fields = ["title"]
