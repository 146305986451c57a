import hashlib
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import MaxLengthValidator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from common.network_zones import zone_of_url
from models_registry.energy.names import find_known
from models_registry.models import LOCAL_MODEL_ENDPOINT, LanguageModel, ModelIcon, Provider
from models_registry.profiles import Profile, change_profile, profile_of
from models_registry.providers.addresses import is_allowed
from models_registry.providers.catalogue import Offer
from models_registry.validators import validate_provider_key
from uploads.reading import guard
from uploads.reading.findings import Picture, Reason, Unreadable
from uploads.reading.sniffing import detect_type

MAX_ICON_BYTES = 500_000
_ICON_REFUSALS = {
    Reason.TOO_MANY_PIXELS: _("The picture has more than 4 megapixels. Upload a smaller one."),
    Reason.TOO_DEMANDING: _("The picture is too large to process."),
}
_DAMAGED = _("The picture is damaged.")


class ProviderForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form with a write-only key: its field is always shown empty."""

    key = forms.CharField(
        label=_("New key"),
        required=False,
        strip=True,
        max_length=500,
        validators=[validate_provider_key],
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("Stored encrypted and never shown again. Leave empty to keep the stored key."),
    )
    remove_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = Provider
        fields = [
            "name", "base_url", "kind", "needs_key", "api_key_env", "connect_s", "first_s", "idle_s", "total_s",
            "finish_reason_required", "calls_at_once", "daily_budget", "passed_names", "fetches_media",
            "server_tool_prices", "sends_trace",
        ]  # fmt: skip
        help_texts = {
            "base_url": _("An OpenAI-compatible endpoint, such as https://api.openai.com/v1."),
            "needs_key": _("If unchecked, the provider's models are used whenever its server responds."),
            "api_key_env": _("Where the key is read from when none is stored here, such as OPENAI_API_KEY."),
            "calls_at_once": _("Further calls wait, then fail. Empty: no limit."),
            "daily_budget": _(
                "Per day (UTC). When it is reached, the provider's paid models are not used. Empty: no limit."
            ),
            "passed_names": _(
                "Fields of other software's requests, separated by commas, that it receives beside the usual ones."
            ),
            "fetches_media": _(
                "Callers of the gateway may then name addresses. Only for services that fetch from the internet."
            ),
            "server_tool_prices": _(
                "US dollars that a call may cost more if its caller allows the tool, by its type:"
                ' {"web_search": 0.03}. Other tools that the provider runs itself are not passed on.'
            ),
            "sends_trace": _(
                "While traces are on, its requests have the header traceparent: only for servers of your own."
                " It tells which two calls belong to one battle."
            ),
            "connect_s": _("Deadlines in seconds. Empty: the site's own."),
        }

    def _get_validation_exclusions(self) -> set[str]:
        """Check that the provider is its owner's only one with this address and key."""
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return excluded - {"team", "api_key_env"}

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).rstrip("/")
        if url not in (self.initial.get("base_url"), LOCAL_MODEL_ENDPOINT) and not is_allowed(zone_of_url(url)):
            raise ValidationError(
                _("This address is in a private network; the setting ARENA_ALLOW_PRIVATE_PROVIDERS would allow it.")
            )
        return url

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("key") and cleaned.get("remove_key"):
            self.add_error("remove_key", _("Either enter a new key or remove the stored one."))
        keeps_key = self.instance.key_encrypted and not cleaned.get("key") and not cleaned.get("remove_key")
        if keeps_key and _origin(self.initial["base_url"]) != _origin(cleaned.get("base_url", "")):
            # Otherwise an editor of the provider could have its stored key sent to another server.
            self.add_error("key", _("The address changed: enter the key again, or remove it."))
        return cleaned

    @sensitive_variables()
    def save(self, commit: bool = True) -> Provider:
        provider: Provider = super().save(commit=False)
        if self.cleaned_data["key"]:
            provider.store_key(self.cleaned_data["key"])
        elif self.cleaned_data["remove_key"]:
            provider.clear_key()
        if commit:
            provider.save()
        return provider


class PickForm(forms.Form):
    names = forms.MultipleChoiceField(error_messages={"required": _("Tick at least one model.")})
    status = forms.ChoiceField(
        label=_("Register them as"),
        choices=[
            (LanguageModel.Status.DRAFT, _("drafts: hidden until you activate them")),
            (LanguageModel.Status.ACTIVE, _("active: available in battles immediately")),
        ],
        initial=LanguageModel.Status.DRAFT,
        widget=forms.RadioSelect,
    )

    def __init__(self, data: QueryDict | None, *, offers: list[Offer]) -> None:
        super().__init__(data)
        self.fields["names"].choices = [(offer.upstream_name, offer.upstream_name) for offer in offers]  # type: ignore[attr-defined]


# Fields of LanguageModelForm that are no columns of the model.
OWN_FIELDS = {"make_version", "hides_setup", "icon_file", "remove_icon", "active_b", "energy_name"}


class LanguageModelForm(forms.ModelForm):  # type: ignore[type-arg]
    abilities = forms.MultipleChoiceField(
        label=_("Abilities"),
        required=False,
        choices=LanguageModel.Ability.choices,
        widget=forms.CheckboxSelectMultiple,
    )
    make_version = forms.BooleanField(required=False)
    hides_setup = forms.BooleanField(
        label=_("Hide what it is sent"), required=False,
        help_text=_("The upstream name, system prompt and parameters of this version are not published."),
    )  # fmt: skip
    active_b = forms.DecimalField(
        label=_("Active parameters, billions"), required=False, max_digits=9, decimal_places=3,
        min_value=Decimal("0.001"),
        help_text=_(
            "For the estimate of energy: all parameters of a dense model, those used for each token of a mixture of "
            "experts. Empty: by the upstream name, if its size is known and it does not run on a server of your own."
        ),
    )  # fmt: skip
    energy_name = forms.CharField(
        label=_("Name for energy"), required=False, max_length=200,
        help_text=_("A model’s usual name, for example gpt-4o-mini, where the upstream name is another one."),
    )  # fmt: skip
    icon_file = forms.FileField(
        label=_("New icon"), required=False,
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp,image/gif"}),
        help_text=_(
            "PNG, JPEG, WebP or GIF up to 500 kB; shown as a small square. "
            "Without one, its organization's initials are shown."
        ),
    )  # fmt: skip
    remove_icon = forms.BooleanField(label=_("Remove the icon"), required=False)

    class Meta:
        model = LanguageModel
        fields = [
            "name", "slug", "status", "weight", "calls_at_once", "provider", "upstream_name", "system_prompt",
            "parameters", "organization", "license", "license_kind", "size_b", "context_length", "abilities", "aliases",
        ]  # fmt: skip
        help_texts = {
            "slug": _("The model's id in addresses and in the models file. It cannot be changed later."),
            "upstream_name": _("The provider's name for this model."),
            "calls_at_once": _("In addition to its provider's limit. Empty: no limit."),
            "weight": _("How often it is chosen compared with other models; 0 means never."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.profile = profile_of(self.instance.pk) if self.instance.pk else Profile()
        self.initial["hides_setup"] = self.profile.hides_setup
        self.initial["active_b"], self.initial["energy_name"] = self.profile.active_b, self.profile.energy_name
        if "provider" in self.fields:
            self.fields["provider"].queryset = Provider.of_every_owner.filter(team=self.instance.team_id)  # type: ignore[attr-defined]
        if "slug" in self.fields:  # a slug is also the family's name, and versions append “-v2”
            max_length = LanguageModel._meta.get_field("family").max_length
            self.fields["slug"].validators.append(MaxLengthValidator(max_length))
        next_version = {"version": self.instance.version + 1}
        self.fields["make_version"].label = _("Make version %(version)d of it") % next_version
        self.fields["make_version"].help_text = _(
            "The new version starts without votes. This version is retired and keeps its votes."
        )

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        others = LanguageModel.of_every_owner.exclude(pk=self.instance.pk)
        if others.filter(team=self.instance.team_id, slug=slug).exists():
            raise self.instance.unique_error_message(LanguageModel, ("slug",))
        return slug

    def clean_energy_name(self) -> str:
        name: str = self.cleaned_data["energy_name"]
        if name and find_known(name) is None:
            raise ValidationError(_("The size of no model of this name is known. Enter the active parameters instead."))
        return name

    def clean_icon_file(self) -> bytes | None:
        file = self.cleaned_data["icon_file"]
        return _read_icon(file) if file else None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.instance.has_votes and self._changes_behaviour(cleaned) and not cleaned.get("make_version"):
            self.add_error(
                "make_version",
                _("This model has votes. Tick this to save the change as a new version, or undo the change."),
            )
        return cleaned

    def save_profile(self, model: LanguageModel) -> None:
        icon = None if self.cleaned_data["remove_icon"] else self.profile.icon
        if content := self.cleaned_data["icon_file"]:
            icon = _store_icon(content).pk
        energy = self.cleaned_data["active_b"], self.cleaned_data["energy_name"]
        change_profile(model.pk, Profile(self.cleaned_data["hides_setup"], icon, *energy))

    def _changes_behaviour(self, cleaned: dict[str, Any]) -> bool:
        names = (name.removesuffix("_id") for name in LanguageModel.BEHAVIOUR)
        return any(name in cleaned and getattr(self.instance, name) != cleaned[name] for name in names)


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _read_icon(file: "UploadedFile[bytes]") -> bytes:
    """Return a small square PNG, encoded anew in the guarded child. Raises ValidationError with a code."""
    if (file.size or 0) > MAX_ICON_BYTES:
        raise ValidationError(_("The picture is larger than 500 kB."), code="icon_too_large")
    content = file.read()
    file_type = detect_type(content, "")
    if file_type is None or file_type.kind != "image":
        raise ValidationError(_("Upload a PNG, JPEG, WebP or GIF."), code="icon_unsupported")
    try:
        picture = guard.read(content, "icon")
    except Unreadable as error:
        raise ValidationError(_ICON_REFUSALS.get(error.reason, _DAMAGED), code=f"icon_{error.reason}") from error
    assert isinstance(picture, Picture)
    return picture.content


def _store_icon(content: bytes) -> ModelIcon:
    digest = hashlib.sha256(content).hexdigest()[:32]
    return ModelIcon.objects.get_or_create(digest=digest, defaults={"content": content})[0]
