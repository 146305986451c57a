"""Forms of rules of auto mode."""

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from battles.labels.categories import category_names
from models_registry.models import LanguageModel
from routing.models import Rule

_CODE = RegexValidator(r"^([a-z]{2,3})$", _("Enter a code of two or three small letters, such as “fr”."))
CONDITIONS = (
    "category", "language", "min_characters", "max_characters", "needs_tools", "needs_images", "data_loaded",
    "workflow", "token",
)  # fmt: skip
DECISION = ("target", "model", "pool", "dial", "max_cost")


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    category = forms.ChoiceField(label=_("Category"), required=False)
    language = forms.CharField(
        label=_("Language"), max_length=3, validators=[_CODE], required=False, help_text=_("As “fr”. Empty: any.")
    )
    pool = forms.ModelMultipleChoiceField(
        label=_("Pool"), queryset=LanguageModel.objects.none(), to_field_name="slug", required=False,
        help_text=_("Models that auto mode chooses from, if the target is a pool."),
    )  # fmt: skip

    class Meta:
        model = Rule
        fields = ["team", "order", "note", "is_active", *CONDITIONS, *DECISION]
        help_texts = {
            "team": _("Empty: the rule is the site's. Save a rule of a team before you choose its pool."),
            "order": _("The active rule with the lowest number that matches decides."),
            "workflow": _("The step that the calling application states. Empty: any."),
            "token": _("Requests with this token of the API only. Empty: all."),
            "model": _("If the target is one model. Questions of this rule never go to another one."),
            "dial": _("0: the cheapest model. 1: the best. Empty: what the person or the application chose."),
            "max_cost": _("Dearer models are left out. Empty: no limit."),
        }

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        names = category_names(self.instance.team_id)
        self.fields["category"].choices = [("", gettext("any")), *names.items()]  # type: ignore[attr-defined]
        self.fields["pool"].queryset = LanguageModel.objects.in_place(self.instance.team_id).public()  # type: ignore[attr-defined]

    def clean_pool(self) -> list[str]:
        return sorted(model.slug for model in self.cleaned_data["pool"])

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or {}
        minimum, maximum = cleaned.get("min_characters"), cleaned.get("max_characters")
        if minimum is not None and maximum is not None and minimum > maximum:
            self.add_error("max_characters", ValidationError(_("This is less than the least number of characters.")))
        model, team = cleaned.get("model"), cleaned.get("team", self.instance.team)
        if model is not None and model.team not in (None, team):
            self.add_error("model", ValidationError(_("Choose a model of the site or of the rule's own team.")))
        return cleaned


class TeamRuleForm(RuleForm):
    """Rule of the team in which its instance is."""

    class Meta(RuleForm.Meta):
        fields = [
            "note", "is_active", *(name for name in CONDITIONS if name != "token"), *DECISION,
        ]  # fmt: skip

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        models = LanguageModel.objects.in_place(self.instance.team_id).exclude(status=LanguageModel.Status.RETIRED)
        for name in ("model", "pool"):
            self.fields[name].queryset = models.public()  # type: ignore[attr-defined]
        self.fields["pool"].widget = forms.CheckboxSelectMultiple()
        # Set again, so that the new widget has them.
        self.fields["pool"].choices = self.fields["pool"].choices  # type: ignore[attr-defined]
