"""Texts that operators write in several languages, stored as {language: text}."""

from django.conf import settings
from django.utils.translation import get_language

Texts = dict[str, str]


def best_language(texts: Texts) -> str:
    """Return the request's language, else the site's, else the first that has a text; "" without any."""
    wanted = (get_language() or "").split("-")[0]
    return next((code for code in (wanted, settings.LANGUAGE_CODE, *texts) if texts.get(code)), "")


def in_best_language(texts: Texts) -> str:
    return texts.get(best_language(texts), "")
