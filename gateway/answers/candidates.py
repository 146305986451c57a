"""Models that a request may be answered by."""

from dataclasses import dataclass, replace

from accounts.actor import Actor
from battles.auto.options import DEFAULT_DIAL, DIALS
from battles.auto.port import Routed, RoutingRequest, Target, addresses_refused, fetching_models, route
from common.errors import ArenaError
from gateway.answers import sessions
from gateway.authentication import Caller
from gateway.errors import ContextTooLong, UnknownModel
from gateway.parsing.chat import ChatBody
from models_registry import drawable_cache
from models_registry.models import LanguageModel

# Names that stand for a decision: the dial of each; None for the caller's, or else the default.
AUTO_MODELS = {"auto": None, "auto-cheap": DIALS["cheap"], "auto-best": DIALS["best"], "auto-fast": None}
FAST = "auto-fast"
# A text with fewer tokens is rare; only the model's server can count them.
MAX_CHARACTERS_PER_TOKEN = 8


@dataclass(frozen=True)
class Candidates:
    """The chosen model, and those to fall back to in order."""

    models: tuple[LanguageModel, ...]
    routing_request: RoutingRequest | None = None
    routed: Routed | None = None

    def next_models(self, actor: Actor) -> list[LanguageModel]:
        """Return models to fall back to. Those of a conversation's next best choice are only decided now."""
        if self.routing_request is None or self.routed is None or self.routed.target != Target.STAY:
            return list(self.models[1:])
        if self.routing_request.previous is not None and self.routing_request.previous.in_tool_loop:
            return []
        try:
            anew = route(replace(self.routing_request, previous=None, records=False), actor)
        except ArenaError:
            return []
        return [model for model in (*anew.models, *anew.next_models) if model not in self.models]


def find_candidates(chat: ChatBody, caller: Caller, *, digest: str) -> Candidates:
    """Raises as named_model, or as battles.auto.port.route."""
    if chat.model not in AUTO_MODELS:
        return Candidates((named_model(chat),))
    routing_request = RoutingRequest(
        prompts=tuple(chat.conversation.prompts) or ("",),
        needs_images=bool(chat.conversation.images),
        models=fetching_models() if chat.conversation.has_addresses else (),
        needs_tools=chat.has_tools,
        characters=chat.characters,
        context=chat.context,
        dial=dial_of(chat),
        max_cost=chat.max_cost,
        max_first_token_ms=chat.max_first_token_ms,
        allow_battle=False,
        fast=chat.model == FAST,
        previous=sessions.find_previous_answer(digest, chat),
        token=caller.token.pk,
        team_id=caller.actor.place_id,
    )
    routed = route(routing_request, caller.actor)
    return Candidates((routed.models[0], *routed.next_models), routing_request, routed)


def dial_of(chat: ChatBody) -> float:
    """chat: for a name in AUTO_MODELS."""
    dial = AUTO_MODELS[chat.model]
    if dial is not None:
        return dial
    return DEFAULT_DIAL if chat.dial is None else chat.dial


def choosable_models() -> list[LanguageModel]:
    """Return the models that may be named: budgets and breakers do not matter, see drawable_cache.Roster."""
    return drawable_cache.cached_roster().choosable


def find_model(name: str) -> LanguageModel | None:
    """Return the model with this slug, or else the only one that has this name at its provider."""
    models = choosable_models()
    matches = [model for model in models if model.slug == name] or [
        model for model in models if model.upstream_name == name
    ]
    return matches[0] if len(matches) == 1 else None


def named_model(chat: ChatBody) -> LanguageModel:
    """Raises UnknownModel, InvalidInput and ContextTooLong."""
    model = find_model(chat.model)
    if model is None:
        raise UnknownModel(chat.model)
    if chat.conversation.has_addresses and not model.provider.may_fetch_media:
        raise addresses_refused()
    tokens = chat.text_characters / MAX_CHARACTERS_PER_TOKEN
    if model.context_length and tokens > model.context_length:
        raise ContextTooLong(tokens=int(tokens), maximum=model.context_length)
    return model
