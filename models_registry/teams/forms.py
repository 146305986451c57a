from decimal import Decimal

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from common.text.money import plain_decimal
from models_registry.forms import LanguageModelForm, ProviderForm
from models_registry.models import LOCAL_MODEL_ENDPOINT, LanguageModel, Price, Provider

_PUBLIC_ONLY = _(
    "Only a public address can be entered here. An administrator can allow your team a host in a private network."
)


class TeamProviderForm(ProviderForm):
    """The administration's form without names of variables: any secret of this machine could be sent to the address."""

    class Meta(ProviderForm.Meta):
        fields = ["name", "base_url", "kind", "calls_at_once"]

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).rstrip("/")
        if url == LOCAL_MODEL_ENDPOINT or not Provider(team=self.instance.team, base_url=url).has_allowed_address:
            raise ValidationError(_PUBLIC_ONLY)
        others = Provider.of_every_owner.filter(team=self.instance.team, base_url=url).exclude(pk=self.instance.pk)
        if others.exists():
            raise ValidationError(_("Your team has a provider with this address already."))
        return url

    @sensitive_variables()
    def save(self, commit: bool = True) -> Provider:
        provider = super().save(commit=False)
        provider.needs_key = bool(provider.key_encrypted)
        if commit:
            provider.save()
        return provider


class NamedModelForm(forms.Form):
    upstream_name = forms.CharField(label=_("The provider's name for the model"), max_length=200)


class TeamModelForm(LanguageModelForm):
    # Published for the site's models only.
    hides_setup = None  # type: ignore[assignment]
    icon_file = None  # type: ignore[assignment]
    remove_icon = None  # type: ignore[assignment]

    price_input = forms.DecimalField(
        label=_("Price of the prompt, US dollars per million tokens"), required=False, max_digits=12,
        decimal_places=6, validators=[MinValueValidator(0)],
    )  # fmt: skip
    price_output = forms.DecimalField(
        label=_("Price of the answer, US dollars per million tokens"), required=False, max_digits=12,
        decimal_places=6, validators=[MinValueValidator(0)],
    )  # fmt: skip

    class Meta(LanguageModelForm.Meta):
        fields = [
            "name", "upstream_name", "organization", "context_length", "abilities", "system_prompt", "parameters",
            "weight", "calls_at_once",
        ]  # fmt: skip
        widgets = {"system_prompt": forms.Textarea(attrs={"rows": 4}), "parameters": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, data: QueryDict | None = None, *, instance: LanguageModel) -> None:
        super().__init__(data, instance=instance)
        if not self.instance.has_votes:
            del self.fields["make_version"]
        if (price := self.instance.price) is not None:
            self.initial["price_input"] = plain_decimal(price.input_per_million)
            self.initial["price_output"] = plain_decimal(price.output_per_million)

    @property
    def has_advanced_errors(self) -> bool:
        advanced = "parameters", "weight", "calls_at_once", "active_b", "energy_name"
        return not self.errors.keys().isdisjoint(advanced)

    def clean_icon_file(self) -> None:
        return None

    def clean(self) -> dict[str, object]:
        cleaned = super().clean()
        if (cleaned.get("price_input") is None) != (cleaned.get("price_output") is None):
            self.add_error("price_output", _("Enter both prices, or none."))
        return cleaned

    @property
    def changes(self) -> dict[str, object]:
        """Return the changed columns: attribute name → value."""
        return {name: self.cleaned_data[name] for name in self.changed_data if name in self.Meta.fields}

    @property
    def energy(self) -> tuple[Decimal | None, str]:
        return self.cleaned_data["active_b"], self.cleaned_data["energy_name"]

    @property
    def price(self) -> Price | None:
        """Return the entered prices, unsaved."""
        prices = self.cleaned_data["price_input"], self.cleaned_data["price_output"]
        return None if None in prices else Price(input_per_million=prices[0], output_per_million=prices[1])
