"""Columns and a filter of rows about two sides, as “A” and “B”; the API has the stored values instead."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from battles.side_words import CHOICE_LABELS, choice_label, side_letter
from common.payload_types import JsonObject
from models_registry.models import LanguageModel

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

T = TypeVar("T")
Column = Callable[[Model], str]


def model_column(letter: str, field: str) -> Column:
    labels = {"A": _("Model A"), "B": _("Model B")}
    return _column(field, labels[letter], _link)


def _link(model: LanguageModel) -> SafeString:
    address = reverse("admin:models_registry_languagemodel_change", args=[model.pk])
    return format_html('<a href="{}">{}</a>', address, model)


def choice_column(field: str) -> Column:
    return _column(field, _("choice"), choice_label)


def side_column(field: str) -> Column:
    return _column(field, _("side"), side_letter)


def _column(field: str, label: "_StrPromise", shown: Callable[[T], str]) -> Column:
    @admin.display(description=label, ordering=field)
    def column(row: Model) -> str:
        return shown(getattr(row, field))

    column.__name__ = field
    return cast(Column, column)


class ChoiceFilter(admin.ChoicesFieldListFilter):
    def choices(self, changelist: ChangeList) -> Iterator[JsonObject]:  # type: ignore[override]
        labels = {str(choice.label): label for choice, label in CHOICE_LABELS.items()}
        for choice in super().choices(changelist):
            yield {**choice, "display": labels.get(str(choice["display"]), choice["display"])}
