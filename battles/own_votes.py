"""A person's votes: the list, its filters, payload and files."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.actor import Actor
from battles.labels.categories import category_names
from battles.labels.languages import language_name
from battles.models import Battle, Vote, VoteQuerySet
from battles.payload_types import Choice, Mode, Origin, OwnVotePayload
from battles.payloads import counted_payload
from battles.side_words import CHOICE_LABELS
from common.tables.cells import inert_cell
from common.text.storable import storable
from models_registry.models import LanguageModel

FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2199, 12, 31)
NOT_A_DAY = _("Write a day as 2026-11-23.")


def _day_field() -> forms.DateField:
    return forms.DateField(
        required=False, input_formats=["%Y-%m-%d"], widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"),
        validators=[MinValueValidator(FIRST_DAY, NOT_A_DAY), MaxValueValidator(LAST_DAY, NOT_A_DAY)],
        error_messages={"invalid": NOT_A_DAY},
    )  # fmt: skip


class VoteFilterForm(forms.Form):
    """Knows only models of the person's votes."""

    model = forms.CharField(label=_("Model"), required=False, widget=forms.Select)
    against = forms.CharField(label=_("Against"), required=False, widget=forms.Select)
    choice = forms.ChoiceField(
        label=_("Your vote"), required=False, choices=[("", _("Every vote")), *CHOICE_LABELS.items()]
    )
    mode = forms.ChoiceField(
        label=_("Mode"), required=False,
        choices=[("", _("Every mode")), *((mode.value, mode.label) for mode in Battle.VOTED_MODES)],
    )  # fmt: skip
    category = forms.CharField(label=_("Category"), required=False, widget=forms.Select)
    language = forms.CharField(label=_("Language"), required=False, widget=forms.Select)
    counted = forms.ChoiceField(
        label=_("Counted"), required=False,
        choices=[("", _("Every vote")), ("true", _("Counts")), ("false", _("Does not count"))],
    )  # fmt: skip
    since, until = _day_field(), _day_field()

    def __init__(self, query: QueryDict, *, actor: Actor) -> None:
        super().__init__(query, label_suffix="")
        self.fields["since"].label, self.fields["until"].label = _("Since"), _("Until")
        self._votes = Vote.objects.cast_by(actor).with_names()
        self._models = {model.slug: model for model in _models_of(self._votes)}
        for name, every in (("model", _("Every model")), ("against", _("Every model"))):
            choices = [("", every), *((slug, model.name) for slug, model in self._models.items())]
            cast(forms.Select, self.fields[name].widget).choices = choices
        self._labels = _labels_of(self._votes)
        for name, every in (("category", _("Every category")), ("language", _("Every language"))):
            cast(forms.Select, self.fields[name].widget).choices = [("", every), *self._labels[name].items()]

    def clean_model(self) -> LanguageModel | None:
        return self._clean_model("model")

    def clean_against(self) -> LanguageModel | None:
        return self._clean_model("against")

    def clean_category(self) -> str:
        return self._clean_label("category")

    def clean_language(self) -> str:
        return self._clean_label("language")

    def clean(self) -> None:
        first, last = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if first and last and first > last:
            self.add_error("until", gettext("This day is before the first one."))

    @property
    def is_narrowed(self) -> bool:
        return any(self.cleaned_data.values())

    def votes(self) -> VoteQuerySet:
        """Return the latest first, with battles and models."""
        data, votes = self.cleaned_data, self._votes
        for model in filter(None, (data["model"], data["against"])):
            votes = votes.filter(Q(model_left=model) | Q(model_right=model))
        exact = {name: data[name] for name in ("choice", "mode", "language") if data[name]}
        if data["category"]:
            exact["categories__contains"] = [data["category"]]
        if data["counted"]:
            counts = Q(excluded_reason__in=Vote.COUNTED_REASONS)
            votes = votes.filter(counts if data["counted"] == "true" else ~counts)
        if data["since"]:
            exact["created_at__gte"] = datetime.combine(data["since"], time(), UTC)
        if data["until"]:
            exact["created_at__lt"] = datetime.combine(data["until"] + timedelta(days=1), time(), UTC)
        related = votes.filter(**exact).select_related("battle__session", "model_left", "model_right")
        return related.order_by("-created_at", "-pk")

    def _clean_label(self, name: str) -> str:
        label = str(self.cleaned_data[name])
        if label and label not in self._labels[name]:
            raise ValidationError(gettext("You have no vote with this label."), code="no_vote_with_it")
        return label

    def _clean_model(self, name: str) -> LanguageModel | None:
        slug = self.cleaned_data[name]
        if slug and slug not in self._models:
            sentence = gettext("You have no vote on “%(model)s”.")
            raise ValidationError(sentence, params={"model": storable(slug[:120])}, code="no_vote_on_it")
        return self._models.get(slug)


def _models_of(votes: VoteQuerySet) -> list[LanguageModel]:
    seen = votes.values_list("model_left").union(votes.values_list("model_right"))
    return list(LanguageModel.of_every_owner.filter(pk__in=[pk for (pk,) in seen]).order_by("name", "pk"))


def _labels_of(votes: VoteQuerySet) -> dict[str, dict[str, str]]:
    """Return the titles of the votes' categories and languages; three queries."""
    categories = {
        label for labels in votes.order_by().values_list("categories", flat=True).distinct() for label in labels
    }
    languages = set(votes.order_by().values_list("language", flat=True).distinct())
    names = category_names()
    titles = {
        "category": {label: names.get(label, label) for label in categories},
        "language": {code: language_name(code) for code in languages},
    }
    return {name: dict(sorted(of_kind.items(), key=lambda item: item[1])) for name, of_kind in titles.items()}


def own_vote_payload(vote: Vote) -> OwnVotePayload:
    """vote: from VoteFilterForm.votes."""
    battle = vote.battle
    return {
        "battle": battle.public_id,
        "session": battle.session.public_id,
        "title": "" if battle.is_hidden else battle.session.title,
        "mode": cast(Mode, vote.mode),
        "origin": cast(Origin, vote.origin),
        "choice": cast(Choice, vote.choice),
        "left": {"id": vote.model_left.slug, "name": vote.model_left.name},
        "right": {"id": vote.model_right.slug, "name": vote.model_right.name},
        "categories": vote.categories,
        "language": vote.language,
        "created_at": vote.created_at,
        **counted_payload(vote),
    }


FILE_FIELDS = (
    "battle", "session", "title", "mode", "origin", "choice", "left", "right", "categories", "language", "created_at",
    "counted", "excluded_reason",
)  # fmt: skip


def own_votes_csv(votes: Iterable[Vote]) -> str:
    """votes: from VoteFilterForm.votes. Models are named by their ids."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FILE_FIELDS)
    for vote in votes:
        payload = own_vote_payload(vote)
        cells: dict[str, object] = {**payload, "left": payload["left"]["id"], "right": payload["right"]["id"]}
        writer.writerow([inert_cell(cells[name]) for name in FILE_FIELDS])
    return text.getvalue()
