"""Search in the gallery; it offers only models, categories and languages of battles that are in it."""

from typing import cast

from django import forms
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Exists, F, Func, OuterRef, Q
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from battles.labels.categories import category_names
from battles.labels.languages import language_name
from battles.models import Share, Side, Vote
from battles.models.shares import ShareQuerySet
from models_registry.models import LanguageModel

WON, LOST = "won", "lost"
RESULTS = [
    ("", _("Every vote")),
    (Vote.Choice.LEFT.value, _("the left answer won")),
    (Vote.Choice.RIGHT.value, _("the right answer won")),
    (Vote.Choice.TIE.value, _("tie")),
    (Vote.Choice.BOTH_BAD.value, _("both are bad")),
    (WON, _("the chosen model won")),
    (LOST, _("the chosen model lost")),
]


def listed_shares() -> ShareQuerySet:
    """Return the gallery with the categories and language of each battle's vote, or of the battle without one."""
    labels = ArrayField(CharField(max_length=40))
    return Share.objects.in_gallery().annotate(
        categories=Coalesce("battle__vote__categories", "battle__categories", output_field=labels),
        language=Coalesce("battle__vote__language", "battle__language"),
    )


class GalleryFilterForm(forms.Form):
    model = forms.ChoiceField(label=_("Model"), required=False)
    vote = forms.ChoiceField(label=_("The vote"), required=False, choices=RESULTS)
    category = forms.ChoiceField(label=_("Category"), required=False)
    language = forms.ChoiceField(label=_("Language"), required=False)

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query, label_suffix="")
        self.category_names = category_names()
        self._models = {model.slug: model for model in _models()}
        languages = _distinct("language")
        self._offer("model", _("Every model"), [(slug, model.name) for slug, model in self._models.items()])
        categories = _distinct("category")
        self._offer("category", _("Every category"), [(key, self.category_names.get(key, key)) for key in categories])
        self._offer("language", _("Every language"), [(code, language_name(code)) for code in languages])

    def clean(self) -> None:
        needs_model = self.cleaned_data.get("vote") in (WON, LOST) and "model" not in self.errors
        if needs_model and not self.cleaned_data.get("model"):
            self.add_error("vote", gettext("Choose a model, too."))

    @property
    def is_narrowed(self) -> bool:
        return any(self.cleaned_data.values())

    def shares(self) -> ShareQuerySet:
        data, shares = self.cleaned_data, listed_shares()
        model = self._models.get(data["model"])
        if model is not None:
            shares = shares.filter(Exists(Side.objects.filter(battle=OuterRef("battle"), model=model)))
        if model is not None and data["vote"] in (WON, LOST):
            shares = shares.filter(_has_result(model, data["vote"]))
        elif data["vote"]:
            shares = shares.filter(battle__vote__choice=data["vote"])
        if data["category"]:
            shares = shares.filter(Q(categories__contains=[data["category"]]))
        return shares.filter(Q(language=data["language"])) if data["language"] else shares

    def _offer(self, name: str, every: Promise, choices: list[tuple[str, str]]) -> None:
        ordered = sorted(choices, key=lambda choice: choice[1].casefold())
        cast(forms.ChoiceField, self.fields[name]).choices = [("", every), *ordered]


def _has_result(model: LanguageModel, result: str) -> Q:
    left, right = Vote.Choice.LEFT, Vote.Choice.RIGHT
    if result == LOST:
        left, right = right, left
    on_left = Q(battle__vote__model_left=model, battle__vote__choice=left)
    return on_left | Q(battle__vote__model_right=model, battle__vote__choice=right)


def _models() -> list[LanguageModel]:
    listed = Share.objects.in_gallery().values("battle")
    met = Side.objects.filter(battle__in=listed).order_by().values("model")
    return list(LanguageModel.objects.filter(pk__in=met).order_by("name", "pk"))


def _distinct(label: str) -> list[str]:
    shares = listed_shares().order_by()
    if label == "category":
        shares = shares.annotate(category=Func(F("categories"), function="unnest", output_field=CharField()))
    return list(shares.values_list(label, flat=True).distinct())
