from typing import Any

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles import feedback
from battles.auto.options import AUTO, DEFAULT_DIAL, DIAL_LABELS, DIALS, REQUESTED_MODES, AutoOptions, dial_name
from battles.models import Attachment, Battle, Position, Session, Vote
from battles.prompting import consent
from battles.prompting.lineup import BattleRequest, Filters
from battles.prompting.proof_of_work import MAX_PROOF_CHARACTERS
from common.errors import ArenaError
from common.text.numbers import parse_whole_number
from models_registry.models import LanguageModel
from site_content.actions import accept_terms
from site_content.current import site
from site_content.errors import TermsChanged, TermsNotAccepted
from site_content.terms import has_accepted
from uploads.models import Upload

# Minimum and maximum size in billions of parameters.
SIZES: dict[str, tuple[float | None, float | None]] = {"small": (None, 4), "medium": (4, 20), "large": (20, None)}


class IdsField(forms.MultipleChoiceField):
    """Ids in the chosen order, without empty ones. The action checks them."""

    def to_python(self, value: object) -> list[str]:
        return [public_id for public_id in super().to_python(value) if public_id]

    def valid_value(self, value: object) -> bool:
        return True


class PromptForm(forms.Form):
    # The action cleans it, for pages and the API alike.
    prompt = forms.CharField(
        label=_("Your prompt"), strip=False, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    attachments = IdsField(required=False)

    def __init__(self, *args: Any, actor: Actor | None = None, **kwargs: Any) -> None:
        """actor: the owner of the attachable files."""
        super().__init__(*args, **kwargs)
        self.fields["prompt"].validators = []  # Django's own would answer first, with another sentence
        self._actor = actor

    def add_refusal(self, refusal: ArenaError) -> None:
        """Show the sentence at the prompt if it is about the prompt, otherwise above the form."""
        self.add_error("prompt" if "prompt" in (refusal.fields or {}) else None, refusal.detail)

    def chips(self) -> list[Upload]:
        """Return the files attached so far; no query without any."""
        ids = [public_id for public_id in self["attachments"].value() or () if public_id.isprintable()]
        if not ids or self._actor is None:
            return []
        owned = Upload.objects.owned_by(self._actor).kept().filter(public_id__in=ids[: Attachment.MAX_PER_TURN])
        return sorted(owned, key=lambda upload: ids.index(upload.public_id))


class StartForm(PromptForm):
    mode = forms.ChoiceField(choices=REQUESTED_MODES, required=False)
    dial = forms.ChoiceField(choices=list(DIAL_LABELS.items()), required=False, initial=dial_name(DEFAULT_DIAL))
    models = IdsField(required=False)
    # The second model of a page with a picker for each; "" draws it.
    opponent = forms.CharField(required=False)
    license_kind = forms.ChoiceField(choices=[("", _("any")), *LanguageModel.KNOWN_LICENSE_KINDS], required=False)
    size = forms.ChoiceField(
        choices=[
            ("", _("any")), ("small", _("up to 4 B")), ("medium", _("4 to 20 B")), ("large", _("20 B and more")),
        ],
        required=False,
    )  # fmt: skip
    needs_images = forms.BooleanField(required=False)
    # The version of the terms that was shown.
    accept_terms = forms.IntegerField(required=False)
    proof = forms.CharField(required=False, max_length=MAX_PROOF_CHARACTERS)
    # The version of the text that was shown: agreeing to an older text is not consent to the current one.
    consent = forms.CharField(required=False)

    def __init__(self, *args: Any, actor: Actor | None = None, **kwargs: Any) -> None:
        super().__init__(*args, actor=actor, **kwargs)
        self.consent_text, self.consent_version = consent.text(), consent.version()
        if actor is not None and not self.is_bound:
            self.initial.setdefault("consent", consent.last_agreed_version(actor))
        self._asks_for_terms = False

    @cached_property
    def terms(self) -> int:
        """Return the version of the terms to accept with this form, or 0; a query only where terms are required."""
        is_asked = self._actor is not None and (self._asks_for_terms or not has_accepted(self._actor))
        return site().terms if is_asked else 0

    @property
    def has_ticked_terms(self) -> bool:
        """Return whether the version that is shown was ticked when the form was sent."""
        return bool(self["accept_terms"].value() == str(self.terms))

    @property
    def takes_focus(self) -> bool:
        """Return whether the prompt takes the focus; else the checkbox of the terms does."""
        return not self._asks_for_terms

    def store_acceptance(self, actor: Actor) -> None:
        """Store that the actor accepts the terms, if the form says so. Raises TermsChanged."""
        number = self.cleaned_data["accept_terms"]
        if number and not has_accepted(actor):
            accept_terms(actor=actor, number=number)

    def add_refusal(self, refusal: ArenaError) -> None:
        if isinstance(refusal, TermsNotAccepted | TermsChanged):
            self._asks_for_terms = True
            self.add_error("accept_terms", refusal.detail)
        else:
            super().add_refusal(refusal)

    @property
    def battle_request(self) -> BattleRequest:
        data = self.cleaned_data
        min_size, max_size = SIZES.get(data["size"], (None, None))
        filters = Filters(data["license_kind"], min_size, max_size, data["needs_images"])
        has_consent = bool(data["consent"]) and data["consent"] == self.consent_version
        if data["mode"] == AUTO:
            auto = AutoOptions(dial=DIALS.get(data["dial"], DEFAULT_DIAL))
            pool, files = tuple(data["models"]), tuple(data["attachments"])
            return BattleRequest(models=pool, attachments=files, consent=has_consent, auto=auto)
        mode = Battle.Mode(data["mode"] or Battle.Mode.BLIND)
        chosen = (*data["models"], data["opponent"]) if data["opponent"] else tuple(data["models"])
        return BattleRequest(mode, chosen, filters, tuple(data["attachments"]), has_consent)


class VoteForm(forms.Form):
    choice = forms.ChoiceField(choices=Vote.Choice.choices)
    # Questions of the review were shown.
    is_complete = forms.BooleanField(required=False)

    def answers(self, n: int) -> list[int | None]:
        return [parse_whole_number(self.data.get(f"answer-{number}", ""), max_digits=1) for number in range(n)]


class FeedbackForm(forms.Form):
    # The action checks the tags.
    left = IdsField(required=False)
    right = IdsField(required=False)
    comment = forms.CharField(max_length=feedback.MAX_CHARACTERS, required=False)

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
