"""The names that Django makes of apps, classes and fields, once and in English, in everybody's language."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import AppConfig
from django.utils.translation import gettext_lazy, override


def generated_verbose_names(configs: Iterable[AppConfig]) -> Iterator[str]:
    """The names themselves, for the catalogue of what is to be translated."""
    for _owner, _attribute, name in _made_names(configs):
        yield name


def translate_verbose_names(configs: Iterable[AppConfig]) -> None:
    """Migrations do not see it: they are made of the names that somebody wrote."""
    for owner, attribute, name in list(_made_names(configs)):
        setattr(owner, attribute, gettext_lazy(name))


def _made_names(configs: Iterable[AppConfig]) -> Iterator[tuple[Any, str, str]]:
    """(whose it is, where it stands, the name in English)"""
    for config in configs:
        if config.models and "verbose_name" not in vars(type(config)):
            yield config, "verbose_name", _in_english(config.verbose_name)
        for model in config.get_models():
            meta = model._meta
            for attribute in ("verbose_name", "verbose_name_plural"):
                if attribute not in meta.original_attrs:
                    yield meta, attribute, _in_english(getattr(meta, attribute))
            for field in (*meta.local_fields, *meta.local_many_to_many):
                if field._verbose_name is None and not field.auto_created:  # type: ignore[attr-defined]
                    yield field, "verbose_name", _in_english(field.verbose_name)


def _in_english(name: Any) -> str:
    """What is made of an untranslated name, or what it was before it was made translatable."""
    with override("en"):
        return str(name)
