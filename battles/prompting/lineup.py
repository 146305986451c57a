"""Who meets whom in a new battle: models that a person chose, and models drawn for the places that are left."""

from collections.abc import Callable, Iterable, Set
from dataclasses import asdict, dataclass, field, replace
from random import Random
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from battles.errors import TooFewModels
from battles.models import NUMBERED_POSITIONS, Battle, Position
from battles.prompting import sampling
from battles.prompting.messages import room_of
from common.errors import InvalidInput
from common.payload_types import JsonObject
from common.text.storable import has_unstorable, storable
from models_registry.drawable_cache import Roster
from models_registry.models import LanguageModel

Mode = Battle.Mode

# From so many who could have been drawn, the filter does not tell who was.
FEWEST_IN_A_NARROWED_POOL = 3
FEW_SEE = _("Too few available models accept images. Remove the images, or choose such a model yourself.")
FEW_READ_SO_MUCH = _("These files are too long for the available models. Attach fewer or shorter files.")
# How many models a person may choose, and what is said to anybody who chooses otherwise.
CHOICES: dict[str, tuple[range, Promise]] = {
    Mode.BLIND: (range(1), _("Models of a blind battle are chosen at random. Do not name any.")),
    Mode.SIDE_BY_SIDE: (range(1, 3), _("Choose two models, or one and let another be chosen at random.")),
    Mode.COMPARE: (range(2, len(NUMBERED_POSITIONS) + 1), _("Choose two to six models.")),
    Mode.DIRECT: (range(1, 2), _("Choose one model.")),
}


@dataclass(frozen=True)
class Filters:
    """What a blind draw is narrowed to; sizes are billions of parameters. A model of unknown size has none."""

    license_kind: str = ""
    min_size_b: float | None = None
    max_size_b: float | None = None
    needs_images: bool = False

    def keeps(self, model: LanguageModel) -> bool:
        if self.license_kind and model.license_kind != self.license_kind:
            return False
        if self.needs_images and not model.sees_images:
            return False
        if self.min_size_b is None and self.max_size_b is None:
            return True
        return model.size_b is not None and (self.min_size_b or 0) <= model.size_b <= (self.max_size_b or float("inf"))

    @property
    def as_json(self) -> JsonObject:
        """What is not asked for is left out: `Filters(**filters.as_json) == filters`."""
        return {name: wanted for name, wanted in asdict(self).items() if wanted not in ("", None, False)}


@dataclass(frozen=True)
class Wish:
    """What a person asks for beside the prompt; `models` are ids as the API gives them, in the order of the sides.

    attachments: ids of uploads. consent: that prompts and answers are published, where the arena publishes any.
    """

    mode: Battle.Mode = Mode.BLIND
    models: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    attachments: tuple[str, ...] = ()
    consent: bool = False


@dataclass(frozen=True)
class Needs:
    """What the files of a prompt ask of a model: to see images, and to read so many characters, prompt and all."""

    images: bool = False
    characters: int = 0

    def met_by(self, model: LanguageModel) -> bool:
        return (model.sees_images or not self.images) and (not self.characters or self.characters <= room_of(model))


NO_NEEDS = Needs()


class Seat(NamedTuple):
    position: str
    model: LanguageModel
    chosen: bool


@dataclass(frozen=True)
class Lineup:
    seats: list[Seat]
    propensity: float


@dataclass(frozen=True)
class Contest:
    """A wish that can be fulfilled: who was chosen, and from whom the rest is drawn.

    A refusal depends on `candidates`, never on which of them are healthy: it would tell whose calls failed in a blind
    battle. For the same reason a chosen model is called whether its breaker is open or not.
    """

    mode: Battle.Mode
    chosen: list[LanguageModel]
    candidates: list[LanguageModel]
    # The pks of those whose breakers are closed.
    healthy: Set[int]
    filters: Filters
    needs: Needs = NO_NEEDS
    # Somebody is not drawn because of the files.
    files_exclude: bool = False

    @classmethod
    def of(cls, wish: Wish, roster: Roster, needs: Needs = NO_NEEDS) -> "Contest":
        """Return the contest that fulfils a wish; the database is asked only about models that cannot be had.

        Raises InvalidInput naming the field, and TooFewModels.
        """
        chosen = _chosen(wish, roster.choosable)
        for model in chosen:
            if not needs.met_by(model):
                raise _refused("attachments", _too_much_for(model, needs))
        if wish.filters.as_json and wish.mode != Mode.BLIND:
            raise _refused("filters", _("Filters apply to blind battles only."))
        everybody = [model for model in roster.payable if wish.filters.keeps(model) and model not in chosen]
        candidates = [model for model in everybody if needs.met_by(model)]
        healthy = {model.pk for model in roster.drawable}
        contest = cls(wish.mode, chosen, candidates, healthy, wish.filters, needs, len(candidates) < len(everybody))
        contest.check_candidates()
        return contest

    @property
    def is_drawn(self) -> bool:
        """Whether anybody is."""
        return self.mode == Mode.BLIND or (self.mode == Mode.SIDE_BY_SIDE and len(self.chosen) == 1)

    @property
    def needs_images(self) -> bool:
        return self.needs.images or self.filters.needs_images

    @property
    def pool(self) -> list[LanguageModel]:
        """From whom is drawn: the healthy candidates; all of them where a narrowed pool would be too small."""
        healthy = [model for model in self.candidates if model.pk in self.healthy]
        is_narrowed = self.files_exclude or bool(self.filters.as_json)
        return self.candidates if is_narrowed and len(healthy) < self._fewest else healthy

    @property
    def _fewest(self) -> int:
        return FEWEST_IN_A_NARROWED_POOL if self.mode == Mode.BLIND else 1

    def check_candidates(self) -> None:
        """Raises InvalidInput, TooFewModels."""
        if self.files_exclude and self.is_drawn and len(self.candidates) < self._fewest:
            raise _refused("attachments", FEW_SEE if self.needs.images else FEW_READ_SO_MUCH)
        if self.filters.as_json and len(self.candidates) < FEWEST_IN_A_NARROWED_POOL:
            raise _refused("filters", _("Your filters leave fewer than three models. Remove a filter."))
        if self.is_drawn and len(self.chosen) + len(self.candidates) < 2:
            raise TooFewModels(retry_after=sampling.RETRY_AFTER_S)

    def line_up(self, random: Random) -> Lineup:
        """Raises TooFewModels."""
        if not self.is_drawn:
            positions = NUMBERED_POSITIONS if self.mode == Mode.COMPARE else Position.values
            seats = [Seat(place, model, True) for place, model in zip(positions, self.chosen, strict=False)]
            return Lineup(seats, propensity=1.0)
        pool = self.pool
        pair = sampling.draw_partner(self.chosen[0], pool, random) if self.chosen else sampling.draw(pool, random)
        known = {model.pk: model for model in (*self.chosen, *pool)}
        left, right = known[pair.left], known[pair.right]
        seats = [Seat(Position.LEFT, left, left in self.chosen), Seat(Position.RIGHT, right, False)]
        return Lineup(seats, pair.propensity)

    def without(self, concerned: Callable[[LanguageModel], bool]) -> "Contest":
        """Nobody `concerned` is drawn. Raises InvalidInput and TooFewModels where too few candidates are left."""
        contest = replace(self, candidates=[model for model in self.candidates if not concerned(model)])
        contest.check_candidates()
        return contest


def _chosen(wish: Wish, drawable: Iterable[LanguageModel]) -> list[LanguageModel]:
    numbers, sentence = CHOICES[wish.mode]
    if len(wish.models) not in numbers:
        raise _refused("models", sentence)
    if len(set(wish.models)) < len(wish.models):
        raise _refused("models", _("Choose each model once."))
    known = {model.slug: model for model in drawable}
    missing = [slug for slug in wish.models if slug not in known]
    if missing:
        raise _refused("models", *_why_not(missing))
    return [known[slug] for slug in wish.models]


def _why_not(slugs: list[str]) -> list[str]:
    storable = [slug for slug in slugs if not has_unstorable(slug)]
    public = {model.slug: model for model in LanguageModel.objects.public().filter(slug__in=storable)}
    return [_why_not_this(slug, public.get(slug)) for slug in slugs]


def _why_not_this(slug: str, model: LanguageModel | None) -> str:
    if model is None:
        return gettext("There is no model “%(model)s”.") % {"model": storable(slug[:120])}
    if model.status != LanguageModel.Status.ACTIVE:
        return gettext("%(model)s is %(status)s.") % {"model": model, "status": model.get_status_display()}
    return gettext("%(model)s is unavailable at the moment.") % {"model": model}


def _too_much_for(model: LanguageModel, needs: Needs) -> str:
    if needs.images and not model.sees_images:
        return gettext("%(model)s does not accept images.") % {"model": model}
    return gettext("These files are too long for %(model)s.") % {"model": model}


def _refused(name: str, *sentences: str | Promise) -> InvalidInput:
    said = [str(sentence) for sentence in sentences]
    return InvalidInput(" ".join(said), fields={name: said})
