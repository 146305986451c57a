"""Prompts that the start page suggests."""

from django.conf import settings
from django.utils.translation import get_language

from battles.models import PromptSuggestion
from common.cache import TTLCached, TTLCachedByTeam, is_of_site
from common.text.translated import Texts

MAX_CHARACTERS = 500
MAX_SHOWN = 8


def _read() -> list[Texts]:
    return list(PromptSuggestion.objects.filter(is_shown=True).values_list("texts", flat=True))


def _read_of_team(team_id: int) -> list[Texts]:
    own = PromptSuggestion.of_every_owner.filter(team=team_id, is_shown=True)
    return list(own.values_list("texts", flat=True))


shown = TTLCached(_read, ttl_s=10, invalidated_by=(PromptSuggestion,), is_concerned=is_of_site)
shown_in_team = TTLCachedByTeam(_read_of_team, ttl_s=10, invalidated_by=(PromptSuggestion,))


def suggestions(team_id: int | None = None) -> list[str]:
    """Return the prompts in the request's language, a team's first; none that is written in others only."""
    language = (get_language() or settings.LANGUAGE_CODE).split("-")[0]
    own = [] if team_id is None else shown_in_team(team_id)
    return [texts[language] for texts in (*own, *shown()) if texts.get(language)][:MAX_SHOWN]
