"""Models that a request may be answered by."""

from django.utils.translation import gettext as _

from battles.prompting.messages import context_characters
from common.errors import InvalidInput
from gateway.errors import ContextTooLong, UnknownModel
from gateway.parsing.chat import ChatBody
from models_registry import drawable_cache
from models_registry.models import LanguageModel


def choosable_models() -> list[LanguageModel]:
    """Return the models that may be named: budgets and breakers do not matter, see drawable_cache.Roster."""
    return drawable_cache.cached_roster().choosable


def named_model(chat: ChatBody) -> LanguageModel:
    """Raises UnknownModel, InvalidInput and ContextTooLong."""
    model = next((model for model in choosable_models() if model.slug == chat.model), None)
    if model is None:
        raise UnknownModel(chat.model)
    if chat.has_tools and LanguageModel.Ability.TOOLS not in model.abilities:
        raise _unable(_("%(model)s cannot call tools."), model, "tools")
    if chat.conversation.images and not model.sees_images:
        raise _unable(_("%(model)s does not accept images."), model, "messages")
    if chat.characters > context_characters(model):
        raise ContextTooLong(fields={"messages": [str(ContextTooLong.message)]})
    return model


def _unable(sentence: str, model: LanguageModel, field: str) -> InvalidInput:
    sentence %= {"model": model}
    return InvalidInput(sentence, fields={field: [sentence]})
