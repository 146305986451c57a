"""Translatable messages: marked strings in templates and Python, and the names of models and their fields."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from babel.messages.extract import extract
from django.apps import apps
from django.conf import settings
from django.utils.translation.template import templatize

from common.verbose_names import generated_verbose_names

APPS = (
    "accounts",
    "arena_site",
    "battles",
    "benchmarks",
    "common",
    "gateway",
    "metrics",
    "leaderboard",
    "models_registry",
    "reviews",
    "routing",
    "site_content",
    "uploads",
)
PYTHON_KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
STRING = r"""u?(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
# Django's templatize turns each tag into a call of gettext and blanks out all the rest.
CALL = re.compile(rf"\b(n?p?gettext|_)\(({STRING}(?:\s*,\s*{STRING})*)")
CALL_IN_PROGRAM = re.compile(rb"gettext|\b_\(")


class Message(NamedTuple):
    """A string to translate. `plural` and `context` may be empty; `where` is a path."""

    singular: str
    plural: str
    context: str
    where: str


def templates() -> list[Path]:
    root = settings.BASE_DIR
    return sorted(path for top in ("templates", *APPS) for path in (root / top).rglob("templates/**/*.*")) + sorted(
        (root / "templates").rglob("*.*")
    )


def messages() -> Iterator[Message]:
    """Yield every message, as often as it is used."""
    for path in templates():
        yield from in_template(path.read_text(), _name(path))
    for app in APPS:
        for path in sorted((settings.BASE_DIR / app).rglob("*.py")):
            yield from in_program(path)
    for name in generated_verbose_names(apps.get_app_config(app) for app in APPS):
        yield Message(name, "", "", "models")


def in_template(source: str, where: str) -> Iterator[Message]:
    for kind, written in CALL.findall(templatize(source)):
        words = [ast.literal_eval(word) for word in re.findall(STRING, written)]
        context = words.pop(0) if "pgettext" in kind else ""
        yield Message(words[0], words[1] if kind.startswith("n") else "", context, where)


def in_program(path: Path) -> Iterator[Message]:
    if not CALL_IN_PROGRAM.search(path.read_bytes()):  # most programs; to parse them takes seconds
        return
    with path.open("rb") as program:
        for _line, text, _comments, context in extract("python", program, PYTHON_KEYWORDS):
            singular, plural = (text[0], text[1]) if isinstance(text, tuple) else (text, "")
            yield Message(singular, plural, context or "", _name(path))


def _name(path: Path) -> str:
    return str(path.relative_to(settings.BASE_DIR))
