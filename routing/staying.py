from battles.labels import UNDETERMINED, Labels
from battles.prompting.routing import Staying
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from routing.query_types import FORMS
from routing.refusals import unavailable

# A conversation that paused for longer is decided anew.
MAX_IDLE_S = 3600


def continues(staying: Staying) -> bool:
    return bool(staying.models) and staying.idle_s < MAX_IDLE_S


def has_new_subject(before: Labels, now: Labels) -> bool:
    """Return whether a category came, or the language changed."""
    languages = {before.language, now.language} - {UNDETERMINED}
    return len(languages) == 2 or not (set(now.categories) - FORMS) <= set(before.categories)


def staying_models(staying: Staying) -> tuple[LanguageModel, ...]:
    """Return the models, also while their breakers are open. Raises NoModelAvailable if one is no longer offered."""
    offered = {model.pk: model for model in drawable_cache.cached_roster().choosable}
    if not staying.models or not offered.keys() >= set(staying.models):
        raise unavailable()
    return tuple(offered[pk] for pk in staying.models)
