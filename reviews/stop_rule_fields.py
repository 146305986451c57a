"""Fields of the stop rule in the form of a draft."""

from collections.abc import Sequence
from itertools import combinations
from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from models_registry.models import LanguageModel
from reviews.actions.contrasts import models_of, read_contrasts
from reviews.models import Review

BETWEEN = "|"  # stands in no slug


class ShareField(forms.CharField):
    """A share in percent, as “60 : 40”, “60” or “60 %”; None if empty."""

    def clean(self, value: object) -> int | None:
        typed = "".join(super().clean(value).split()).removesuffix("%")
        if not typed:
            return None
        first, colon, second = typed.partition(":")
        if not (first.isdecimal() and len(first) <= 2 and (not colon or second == str(100 - int(first)))):
            raise ValidationError(_("Write a share as 60 : 40 or as 60."))
        share = int(first)
        if not Review.MIN_STOP_SHARE <= share <= Review.MAX_STOP_SHARE:
            sentence = _("Choose a share from %(least)s to %(most)s.")
            raise ValidationError(sentence % {"least": Review.MIN_STOP_SHARE, "most": Review.MAX_STOP_SHARE})
        return share

    def prepare_value(self, value: object) -> object:
        return f"{value} : {100 - value}" if isinstance(value, int) else value


class PairsField(forms.MultipleChoiceField):
    """Pairs of names of models."""

    def clean(self, value: object) -> list[list[str]]:
        return [str(pair).split(BETWEEN) for pair in cast(Sequence[str], super().clean(value))]


def stop_rule_fields(review: Review) -> tuple[dict[str, forms.Field], dict[str, object]]:
    """Return fields and initial values; none for a run without two models."""
    models = models_of(review)
    if len(models) < 2:
        return {}, {}
    stored = [(one.first_model, one.second_model) for one in (read_contrasts(review) if review.pk else [])]
    ordered = {frozenset((first.pk, second.pk)): (first, second) for first, second in stored}
    pairs = [
        ordered.get(frozenset((first.pk, second.pk)), (first, second)) for first, second in combinations(models, 2)
    ]
    fields: dict[str, forms.Field] = {
        "stop_share": ShareField(
            label=_("Stop rule: the difference that matters"), required=False, max_length=12,
            help_text=_(
                "60 : 40, for example. The review then ends as soon as each pair of models below is decided: better, "
                "worse, or equal within this difference. Empty: no stop rule."
            ),
        ),
        "stop_level": forms.IntegerField(
            label=_("Chance of a wrong decision, of all pairs together (%)"), required=False, min_value=1,
            max_value=Review.MAX_STOP_LEVEL,
        ),
        "baseline": forms.ChoiceField(
            label=_("Compare all models with"), required=False,
            choices=[("", _("none of them")), *((model.full_slug, model.name) for model in models)],
        ),
        "contrasts": PairsField(
            label=_("Pairs of models that the stop rule decides about"), required=False,
            widget=forms.CheckboxSelectMultiple,
            choices=[(_value(pair), f"{pair[0].name} – {pair[1].name}") for pair in pairs],
        ),
    }  # fmt: skip
    chosen = [_value(pair) for pair in stored]
    return fields, {"stop_share": review.stop_share, "stop_level": review.stop_level, "contrasts": chosen}


def _value(pair: tuple[LanguageModel, LanguageModel]) -> str:
    return BETWEEN.join(model.full_slug for model in pair)
