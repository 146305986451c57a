"""Port of auto mode: requests of battles and the gateway to the router that the setting ARENA_ROUTER names."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.auto.options import DEFAULT_DIAL, NO_CONTEXT, RoutingContext
from battles.errors import NoModelAvailable
from battles.labels import Labels
from battles.labels.labelling import IMAGES, labels_in_place
from battles.models import RoutingDecision
from battles.prompting.lineup import RETRY_AFTER_S, ModelRequirements, unavailable_errors
from common.errors import InvalidInput
from common.payload_types import JsonObject
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from models_registry.payload_types import EnergyPayload

Target = RoutingDecision.Target

MAX_CANDIDATES_STORED = 12
NO_LABELS = Labels()


@dataclass(frozen=True)
class PreviousAnswer:
    """The last answer of a conversation.

    model: id. labels: of the prompts before the last one. in_tool_loop: the last message is a tool's result.
    """

    model: int
    labels: Labels = NO_LABELS
    idle_s: float = 0.0
    in_tool_loop: bool = False


@dataclass(frozen=True)
class RoutingRequest:
    """Prompt to decide about.

    prompts: texts of all user turns in order. labels: None to compute them. characters: of the conversation with its
    files; 0 for that of `prompts`. models: slugs of a pool, empty for all. max_cost: US dollars. fast: prefer early
    first tokens. token: id of the ApiToken. records: count it in the share of battles. team_id: of the place whose
    models can be chosen.
    """

    prompts: tuple[str, ...]
    labels: Labels | None = None
    needs_images: bool = False
    needs_tools: bool = False
    characters: int = 0
    context: RoutingContext = NO_CONTEXT
    dial: float = DEFAULT_DIAL
    max_cost: Decimal | None = None
    max_first_token_ms: int | None = None
    models: tuple[str, ...] = ()
    allow_battle: bool = True
    fast: bool = False
    previous: PreviousAnswer | None = None
    token: int | None = None
    records: bool = True
    team_id: int | None = None

    @property
    def total_characters(self) -> int:
        return self.characters or sum(map(len, self.prompts))

    @property
    def requirements(self) -> ModelRequirements:
        return ModelRequirements(images=self.needs_images, characters=self.total_characters)

    def known_labels(self) -> Labels:
        """Return `labels`, or those of the prompts."""
        if self.labels is not None:
            return self.labels
        labels = labels_in_place(self.team_id, self.prompts)
        images = {IMAGES} if self.needs_images else set()
        return Labels(tuple(sorted({*labels.categories, *images})), labels.language)


@dataclass(frozen=True)
class Alternative:
    """Candidate of a decision. win_chance: against the others, ties half; good_enough: that its answer suffices alone;
    reason_out: code of the reason why it could not be chosen, or "".
    """

    model: LanguageModel
    win_chance: float | None = None
    good_enough: float | None = None
    cost: Decimal | None = None
    first_token_ms: int | None = None
    theta: float | None = None
    sd: float | None = None
    reason_out: str = ""
    energy: EnergyPayload | None = None

    @property
    def as_json(self) -> JsonObject:
        """Return it as RoutingDecision.candidates stores it."""
        rounded = {
            name: None if value is None else round(value, 4)
            for name, value in (
                ("theta", self.theta), ("sd", self.sd), ("win_chance", self.win_chance),
                ("good_enough", self.good_enough),
            )
        }  # fmt: skip
        return {
            "model": self.model.full_slug,
            "name": str(self.model),
            **rounded,
            "cost": None if self.cost is None else f"{self.cost:f}",
            "first_token_ms": self.first_token_ms,
            "reason_out": self.reason_out,
            "energy": self.energy,
        }


@dataclass(frozen=True)
class Routed:
    """Decision: one model (`model`, `stay`, `fallback`) or the two of a battle (`arena`).

    confidence: probability that the first of `models` is the best choice. alternatives: by utility, the chosen model
    first. ranking: all models that could be chosen, by utility; () for those of the alternatives. reason, details: of
    battles.auto.reasons.
    """

    target: Target
    models: tuple[LanguageModel, ...]
    query_type: str
    type_confidence: float
    confidence: float
    reason: str
    policy: str
    labels: Labels = NO_LABELS
    details: Mapping[str, float | int | str] = field(default_factory=dict)
    dial: float = DEFAULT_DIAL
    propensity: float = 1.0
    explored: bool = False
    runner_up: LanguageModel | None = None
    win_chance: float | None = None
    cost_expected: Decimal | None = None
    cost_best: Decimal | None = None
    alternatives: tuple[Alternative, ...] = ()
    ranking: tuple[LanguageModel, ...] = ()
    micros: int = 0

    @property
    def is_battle(self) -> bool:
        return self.target == Target.ARENA

    @property
    def next_models(self) -> list[LanguageModel]:
        """Return the models to fall back to, by utility."""
        ranking = self.ranking or [alternative.model for alternative in self.alternatives if not alternative.reason_out]
        return [model for model in ranking if model not in self.models]


Router = Callable[[RoutingRequest, Actor], Routed]


def route(request: RoutingRequest, actor: Actor) -> Routed:
    """Decide without starting or storing anything.

    Depends on the models that are set up, not on their health or their budgets (docs/adr/0029).
    Raises InvalidInput for unknown models, NoModelFits if the request excludes every model, NoModelAvailable if none is
    set up, BudgetReached.
    """
    request = replace(request, models=_known_slugs(request)) if request.models else request
    router: Router = import_string(settings.ARENA_ROUTER)
    return router(request, actor)


def fetching_models(among: Collection[str] = (), *, team_id: int | None = None) -> tuple[str, ...]:
    """Return the slugs of models whose servers fetch pictures and files; among: of these only, unless it is empty.

    team_id: of the place. Raises InvalidInput for none.
    """
    fetching = [model for model in drawable_cache.roster_of(team_id).choosable if model.provider.may_fetch_media]
    slugs = tuple(model.slug for model in fetching if not among or not set(among).isdisjoint(model.slugs))
    if not slugs:
        raise addresses_refused()
    return slugs


def addresses_refused() -> InvalidInput:
    sentence = _("Pictures and files at an address cannot be sent to this model. Send them as data URLs.")
    return InvalidInput(sentence, fields={"messages": [sentence]})


def _known_slugs(request: RoutingRequest) -> tuple[str, ...]:
    """Raises InvalidInput."""
    offered = drawable_cache.by_name(drawable_cache.roster_of(request.team_id).choosable)
    missing = [name for name in request.models if name not in offered]
    if missing:
        raise InvalidInput(fields={"models": unavailable_errors(missing, request.team_id)})
    return tuple(dict.fromkeys(offered[name].slug for name in request.models))


def heaviest_weight(request: RoutingRequest, actor: Actor) -> Routed:
    """Choose the model with the largest sampling weight: the router of an arena that learns nothing."""
    labels = request.known_labels()
    fitting = [model for model in drawable_cache.roster_of(request.team_id).choosable if fits(model, request)]
    if not fitting:
        raise NoModelAvailable(retry_after=RETRY_AFTER_S)
    ranked = sorted(fitting, key=lambda model: (-model.weight, model.pk))
    return Routed(
        target=Target.MODEL, models=(ranked[0],), query_type=next(iter(labels.categories), "general-chat"),
        type_confidence=1.0, confidence=1 / len(ranked), reason="weights", policy="weights", labels=labels,
        dial=request.dial, runner_up=ranked[1] if len(ranked) > 1 else None,
        alternatives=tuple(Alternative(model) for model in ranked),
    )  # fmt: skip


def fits(model: LanguageModel, request: RoutingRequest) -> bool:
    """Return whether the model has the abilities and the context for the request, and is in its pool."""
    if request.models and model.slug not in request.models:
        return False
    if request.needs_tools and LanguageModel.Ability.TOOLS not in model.abilities:
        return False
    return request.requirements.are_met_by(model)
