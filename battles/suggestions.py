"""Prompts that the start page suggests."""

from django.conf import settings
from django.utils.translation import get_language

from battles.models import PromptSuggestion
from common.cache import TTLCached
from common.text.translated import Texts

MAX_CHARACTERS = 500
MAX_SHOWN = 8


def _read() -> list[Texts]:
    return list(PromptSuggestion.objects.filter(is_shown=True).values_list("texts", flat=True))


shown = TTLCached(_read, ttl_s=10, invalidated_by=(PromptSuggestion,))


def suggestions() -> list[str]:
    """Return the prompts in the request's language; none that is written in others only."""
    language = (get_language() or settings.LANGUAGE_CODE).split("-")[0]
    return [texts[language] for texts in shown() if texts.get(language)][:MAX_SHOWN]
