from battles.auto.port import PreviousAnswer
from battles.labels import UNDETERMINED, Labels
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from routing.deciding.query_types import FORMS
from routing.deciding.refusals import unavailable

# A conversation that paused for longer is decided anew. The gateway remembers answers for SESSION_TTL_S, as long.
MAX_IDLE_S = 3600


def is_recent(previous: PreviousAnswer) -> bool:
    return previous.idle_s < MAX_IDLE_S


def has_new_subject(before: Labels, now: Labels) -> bool:
    """Return whether a category came, or the language changed."""
    languages = {before.language, now.language} - {UNDETERMINED}
    return len(languages) == 2 or not (set(now.categories) - FORMS) <= set(before.categories)


def previous_model(previous: PreviousAnswer) -> LanguageModel:
    """Also while its breaker is open. Raises NoModelAvailable."""
    offered = {model.pk: model for model in drawable_cache.cached_roster().choosable}
    if previous.model not in offered:
        raise unavailable()
    return offered[previous.model]
