"""Matchup of a new battle: the chosen models, and models drawn for the remaining sides."""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from battles.errors import TooFewModels
from battles.models import NUMBERED_POSITIONS, Battle, Position, Side
from battles.prompting.messages import context_characters
from battles.prompting.pairing import Candidate, Pair, PairWeights, draw_pair
from common.errors import InvalidInput
from common.payload_types import JsonObject
from common.text.storable import has_unstorable, storable
from models_registry.drawable_cache import Roster, by_name
from models_registry.models import LanguageModel

if TYPE_CHECKING:
    from battles.auto.options import AutoOptions  # auto mode takes its battles from this module

Mode = Battle.Mode

# A filter that leaves fewer models would reveal who was drawn in a blind battle.
MIN_NARROWED_POOL = 3
RETRY_AFTER_S = 30
TOO_FEW_ACCEPT_IMAGES = _("Too few available models accept images. Remove the images, or choose such a model yourself.")
FILES_TOO_LONG = _("These files are too long for the available models. Attach fewer or shorter files.")
CHOSEN_TWICE = _("Choose each model once.")
# Number of models a person may choose in each mode, and the error for any other number.
CHOICE_COUNTS: dict[str, tuple[range, Promise]] = {
    Mode.BLIND: (range(1), _("Models of a blind battle are chosen at random. Do not name any.")),
    Mode.SIDE_BY_SIDE: (range(1, 3), _("Choose two models, or one and let another be chosen at random.")),
    Mode.COMPARE: (range(2, len(NUMBERED_POSITIONS) + 1), _("Choose two to six models.")),
    Mode.DIRECT: (range(1, 2), _("Choose one model.")),
}


@dataclass(frozen=True)
class Filters:
    """Filters of a blind draw. Sizes in billions of parameters; a size filter excludes models of unknown size."""

    license_kind: str = ""
    min_size_b: float | None = None
    max_size_b: float | None = None
    needs_images: bool = False

    def matches(self, model: LanguageModel) -> bool:
        if self.license_kind and model.license_kind != self.license_kind:
            return False
        if self.needs_images and not model.sees_images:
            return False
        if self.min_size_b is None and self.max_size_b is None:
            return True
        return model.size_b is not None and (self.min_size_b or 0) <= model.size_b <= (self.max_size_b or float("inf"))

    @property
    def as_json(self) -> JsonObject:
        """Return the filters that are set: `Filters(**filters.as_json) == filters`."""
        return {name: value for name, value in vars(self).items() if value not in ("", None, False)}


@dataclass(frozen=True)
class BattleRequest:
    """Options of a new battle beside its prompt.

    models: slugs of the chosen models in the order of the sides. attachments: public ids of uploads.
    consent: to publish prompts and answers; ignored if the arena publishes none. auto: the arena chooses the mode, and
    models among `models` if there are any.
    """

    mode: Battle.Mode = Mode.BLIND
    models: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    attachments: tuple[str, ...] = ()
    consent: bool = False
    auto: "AutoOptions | None" = None


@dataclass(frozen=True)
class ModelRequirements:
    """Requirements of a prompt's files; `characters` includes the prompt, 0 is no requirement."""

    images: bool = False
    characters: int = 0

    def are_met_by(self, model: LanguageModel) -> bool:
        return (model.sees_images or not self.images) and (
            not self.characters or self.characters <= context_characters(model)
        )


NO_FILTERS = Filters()
NO_REQUIREMENTS = ModelRequirements()


class RoutedPair(NamedTuple):
    """Pair that auto mode chose, for a blind battle."""

    first: LanguageModel
    second: LanguageModel
    propensity: float


class Matchup(NamedTuple):
    sides: list[Side]  # unsaved, without their battle
    propensity: float


@dataclass(frozen=True)
class MatchupPlan:
    """Chosen models of a valid request, and the candidates to draw the others from.

    A refusal depends on `candidates` only, not on their health, which would reveal whose calls failed in a blind
    battle. Therefore a chosen model is called even while its breaker is open.
    """

    mode: Battle.Mode
    chosen: list[LanguageModel]
    candidates: list[LanguageModel]
    healthy: Set[int]  # pks of drawable models
    filters: Filters = NO_FILTERS
    requirements: ModelRequirements = NO_REQUIREMENTS
    files_exclude_models: bool = False
    # Auto mode chose `chosen` or the pair.
    is_routed: bool = False
    routed_pair: RoutedPair | None = None

    @classmethod
    def from_request(
        cls, battle_request: BattleRequest, roster: Roster, requirements: ModelRequirements = NO_REQUIREMENTS
    ) -> "MatchupPlan":
        """Return the plan for a request; queries the database only to explain an unavailable model.

        Raises InvalidInput naming the field, and TooFewModels.
        """
        chosen = _chosen_models(battle_request, roster)
        for model in chosen:
            if not requirements.are_met_by(model):
                raise _field_error("attachments", _unmet_requirement(model, requirements))
        filters = battle_request.filters
        if filters.as_json and battle_request.mode != Mode.BLIND:
            raise _field_error("filters", _("Filters apply to blind battles only."))
        matching = [model for model in roster.choosable if filters.matches(model) and model not in chosen]
        candidates = [model for model in matching if requirements.are_met_by(model)]
        healthy = {model.pk for model in roster.drawable}
        plan = cls(
            battle_request.mode,
            chosen,
            candidates,
            healthy,
            filters,
            requirements,
            files_exclude_models=len(candidates) < len(matching),
        )
        plan.check_candidates()
        return plan

    @property
    def draws_models(self) -> bool:
        return self.mode == Mode.BLIND or (self.mode == Mode.SIDE_BY_SIDE and len(self.chosen) == 1)

    @property
    def needs_images(self) -> bool:
        return self.requirements.images or self.filters.needs_images

    @property
    def pool(self) -> list[LanguageModel]:
        """Return the healthy candidates, or all of them if too few are healthy."""
        healthy = [model for model in self.candidates if model.pk in self.healthy]
        return self.candidates if len(healthy) < self._min_candidates else healthy

    @property
    def _min_candidates(self) -> int:
        if self.mode != Mode.BLIND:
            return 1
        return MIN_NARROWED_POOL if self.files_exclude_models or self.filters.as_json else 2

    def check_candidates(self) -> None:
        """Raise InvalidInput or TooFewModels if too few candidates are left."""
        if self.files_exclude_models and self.draws_models and len(self.candidates) < self._min_candidates:
            raise _field_error("attachments", TOO_FEW_ACCEPT_IMAGES if self.requirements.images else FILES_TOO_LONG)
        if self.filters.as_json and len(self.candidates) < MIN_NARROWED_POOL:
            raise _field_error("filters", _("Your filters leave fewer than three models. Remove a filter."))
        if self.draws_models and len(self.chosen) + len(self.candidates) < 2:
            raise TooFewModels(retry_after=RETRY_AFTER_S)

    def draw_matchup(self, random: Random) -> Matchup:
        """Draw models for the remaining sides. Raises TooFewModels."""
        if self.routed_pair is not None:
            first, second, propensity = self.routed_pair
            left, right = (first, second) if random.random() < 0.5 else (second, first)
            return Matchup(
                [Side(position=Position.LEFT, model=left), Side(position=Position.RIGHT, model=right)], propensity
            )
        if not self.draws_models:
            positions = NUMBERED_POSITIONS if self.mode == Mode.COMPARE else Position.values
            chosen = zip(positions, self.chosen, strict=False)
            sides = [Side(position=position, model=model, chosen=not self.is_routed) for position, model in chosen]
            return Matchup(sides, 1.0)
        pool = self.pool
        pair = draw_models(pool, random, staying=self.chosen[0] if self.chosen else None)
        if pair is None:
            raise TooFewModels(retry_after=RETRY_AFTER_S)
        by_pk = {model.pk: model for model in (*self.chosen, *pool)}
        left, right = by_pk[pair.left], by_pk[pair.right]
        sides = [
            Side(position=Position.LEFT, model=left, chosen=left in self.chosen),
            Side(position=Position.RIGHT, model=right),
        ]
        return Matchup(sides, pair.propensity)

    def without(self, is_excluded: Callable[[LanguageModel], bool]) -> "MatchupPlan":
        """Return the plan without excluded candidates. Raises InvalidInput and TooFewModels if too few are left."""
        plan = replace(self, candidates=[model for model in self.candidates if not is_excluded(model)])
        plan.check_candidates()
        return plan


def _chosen_models(battle_request: BattleRequest, roster: Roster) -> list[LanguageModel]:
    counts, error = CHOICE_COUNTS[battle_request.mode]
    if len(battle_request.models) not in counts:
        raise _field_error("models", error)
    if not battle_request.models:
        return []
    if len(set(battle_request.models)) < len(battle_request.models):
        raise _field_error("models", CHOSEN_TWICE)
    known = by_name(roster.choosable)
    missing = [name for name in battle_request.models if name not in known]
    if missing:
        raise _field_error("models", *unavailable_errors(missing, roster.team_id))
    chosen = [known[name] for name in battle_request.models]
    if len(set(chosen)) < len(chosen):
        raise _field_error("models", CHOSEN_TWICE)
    return chosen


def unavailable_errors(names: list[str], team_id: int | None) -> list[str]:
    """Return a sentence for each name that the place has no model for, or none that can be asked."""
    slugs = [name.rpartition("~")[2] for name in names if not has_unstorable(name)]
    public = by_name(LanguageModel.objects.in_place(team_id).public().filter(slug__in=slugs))
    return [_unavailable_error(name, public.get(name)) for name in names]


def _unavailable_error(slug: str, model: LanguageModel | None) -> str:
    if model is None:
        return gettext("There is no model “%(model)s”.") % {"model": storable(slug[:120])}
    if model.status != LanguageModel.Status.ACTIVE:
        return gettext("%(model)s is %(status)s.") % {"model": model, "status": model.get_status_display()}
    return gettext("%(model)s is unavailable at the moment.") % {"model": model}


def _unmet_requirement(model: LanguageModel, requirements: ModelRequirements) -> str:
    if requirements.images and not model.sees_images:
        return gettext("%(model)s does not accept images.") % {"model": model}
    return gettext("These files are too long for %(model)s.") % {"model": model}


def _field_error(name: str, *sentences: str | Promise) -> InvalidInput:
    messages = [str(sentence) for sentence in sentences]
    return InvalidInput(" ".join(messages), fields={name: messages})


def draw_models(
    models: Iterable[LanguageModel], random: Random, *, staying: LanguageModel | None = None
) -> Pair | None:
    """Draw a pair on random sides, or an opponent (`right`) for a model that stays (`left`); None from too few."""
    drawn_from = models if staying is None else [staying, *models]
    candidates = [Candidate(model.pk, model.weight) for model in drawn_from]
    pair_weights: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return draw_pair(candidates, pair_weights, random, staying=None if staying is None else staying.pk)


def draw_opponent(
    *,
    staying: LanguageModel,
    leaving: int,
    random: Random,
    is_eligible: Callable[[LanguageModel], bool],
    team_id: int | None = None,
) -> Pair | None:
    """Draw a new opponent (`right`) for the model that stays (`left`); None if no other of the place is drawable."""
    drawable = LanguageModel.objects.in_place(team_id).drawable()
    others = [model for model in drawable if model.pk not in (staying.pk, leaving)]
    return draw_models(filter(is_eligible, others), random, staying=staying)
