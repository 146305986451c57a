"""Make Django's auto-generated verbose names translatable."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import AppConfig
from django.utils.translation import gettext_lazy, override


def generated_verbose_names(configs: Iterable[AppConfig]) -> Iterator[str]:
    for _owner, _attribute, name in _generated(configs):
        yield name


def translate_verbose_names(configs: Iterable[AppConfig]) -> None:
    """Replace generated names by lazy translations; migrations contain only explicit names."""
    for owner, attribute, name in list(_generated(configs)):
        setattr(owner, attribute, gettext_lazy(name))


def _generated(configs: Iterable[AppConfig]) -> Iterator[tuple[Any, str, str]]:
    """Yield (owner, attribute of the owner, English name) for each generated name."""
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
    with override("en"):
        return str(name)
