"""Models to choose from, in every picker of the site."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, NamedTuple

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Team
from common.cache import TTLCached
from common.text.money import dollars, plain_decimal
from common.text.storable import storable
from models_registry import drawable_cache
from models_registry.models import LanguageModel, PaidCallsHalt, Price, Provider
from models_registry.models.ledger import are_paid_calls_halted

# Rows of a picker before its search narrows them: more of them would make pages of large arenas heavy.
MAX_ROWS = 40
# Models that stay in a picker while others are searched.
MAX_CHOSEN = 100

# Reasons of the set-up, and that an operator stopped all paid calls: breakers, budgets and load would reveal models of
# blind battles (docs/adr/0029).
GAPS: dict[str, Promise] = {
    "paused": gettext_lazy("not set up: paused"),
    "no_key": gettext_lazy("not set up: no key"),
    "no_server": gettext_lazy("not set up: its server has not answered yet"),
    "halted": gettext_lazy("not set up: calls to paid models are stopped"),
}


@dataclass(frozen=True)
class PickerKind:
    """is_public: all listed models can be chosen, also retired ones."""

    name: str
    input: Literal["radio", "checkbox", "copy"]
    label: Promise
    empty_label: str | Promise = ""
    is_public: bool = False


KINDS = {
    "one": PickerKind("models", "radio", gettext_lazy("Model")),
    "left": PickerKind("models", "radio", gettext_lazy("Model A")),
    "right": PickerKind("opponent", "radio", gettext_lazy("Model B"), gettext_lazy("Choose at random")),
    "several": PickerKind("models", "checkbox", gettext_lazy("Models")),
    "baseline": PickerKind("baseline", "radio", gettext_lazy("Baseline"), gettext_lazy("No baseline")),
    "first": PickerKind("a", "radio", gettext_lazy("First model"), is_public=True),
    "second": PickerKind("b", "radio", gettext_lazy("Second model"), is_public=True),
    "ids": PickerKind("", "copy", gettext_lazy("Models")),
}


class Row(NamedTuple):
    """gap: why it cannot be chosen. is_kept: chosen, but not found by the search."""

    model: LanguageModel
    is_chosen: bool = False
    gap: str = ""
    is_kept: bool = False

    @property
    def value(self) -> str:
        return self.model.full_slug

    @property
    def facts(self) -> list[str]:
        model, price = self.model, self.model.price
        facts = [model.team.name if model.team is not None else "", model.organization]
        if price is not None:
            sums = (plain_decimal(price.input_per_million), plain_decimal(price.output_per_million))
            facts.append(" / ".join(map(dollars, sums)) if price.is_above_zero else _("free"))
        if model.sees_images:
            facts.append(_("sees images"))
        return [fact for fact in facts if fact]


@dataclass(frozen=True)
class Picker:
    """found: how many models match, also those without a row. team: slug of the place, "" for none."""

    key: str
    rows: Sequence[Row]
    found: int
    search: str = ""
    team: str = ""

    @property
    def kind(self) -> PickerKind:
        return KINDS[self.key]

    @property
    def choices_url(self) -> str:
        return reverse("team_models:choices", args=[self.team]) if self.team else reverse("models:choices")

    @property
    def chosen(self) -> LanguageModel | None:
        return next((row.model for row in self.rows if row.is_chosen), None)

    @property
    def has_prices(self) -> bool:
        return any(row.model.is_paid for row in self.rows)

    @property
    def left_out(self) -> int:
        return self.found - sum(not row.is_kept for row in self.rows)


def read_picker(
    key: str, *, chosen: Collection[str] = (), search: str = "", shows_all: bool = False, place: Team | None = None
) -> Picker:
    """key: of KINDS. chosen: slugs; without any, a picker of one model has the first."""
    kind, search = KINDS[key], " ".join(storable(search).split())
    wanted = [storable(slug) for slug in list(chosen)[:MAX_CHOSEN] if slug]
    if kind.is_public:
        return _public_picker(key, wanted, search, shows_all=shows_all, place=place)
    roster = drawable_cache.roster_of(None if place is None else place.pk)
    ready = sorted(roster.choosable, key=_name_order)
    ready_ids = {model.pk for model in ready}
    not_set_up = cached_not_set_up() if place is None else _not_set_up_in(place.pk)()
    others = [model for model in not_set_up if model.pk not in ready_ids]
    words = search.casefold().split()
    found = [model for model in (*ready, *others) if _matches(model, words)]
    picked = _or_first([model for model in ready if not set(wanted).isdisjoint(model.slugs)], kind, ready)
    shown = found if shows_all else found[:MAX_ROWS]
    rows = [Row(model, model in picked, "" if model.pk in ready_ids else setup_gap(model)) for model in shown]
    return Picker(key, [*_kept(picked, shown), *rows], len(found), search, "" if place is None else place.slug)


def _or_first(picked: list[LanguageModel], kind: PickerKind, models: Sequence[LanguageModel]) -> list[LanguageModel]:
    must_have_one = kind.input == "radio" and not kind.empty_label
    return list(models[:1]) if must_have_one and not picked else picked


def _kept(picked: Collection[LanguageModel], shown: Collection[LanguageModel]) -> list[Row]:
    return [Row(model, is_chosen=True, is_kept=True) for model in picked if model not in shown]


def setup_gap(model: LanguageModel) -> str:
    """Return why administrators have to act; "" if the model can be chosen, or is retired."""
    if model.status == LanguageModel.Status.RETIRED:
        return ""
    if model.status == LanguageModel.Status.PAUSED or model.weight <= 0:
        return str(GAPS["paused"])
    if model.provider.needs_key and not model.provider.has_key:
        return str(GAPS["no_key"])
    if model.provider.setup_problem:
        return str(GAPS["no_server"])
    return str(GAPS["halted"]) if cached_is_halted() and model.is_paid else ""


cached_is_halted = TTLCached(are_paid_calls_halted, ttl_s=2, invalidated_by=(PaidCallsHalt,))


def _load_not_set_up(team_id: int | None = None) -> list[LanguageModel]:
    models = LanguageModel.objects.in_place(team_id)
    used = Provider.of_every_owner.filter(Q(team=None) | Q(team=team_id)).select_related("team")
    providers = [provider.pk for provider in used if provider.setup_problem]
    listed = models.public().exclude(status=LanguageModel.Status.RETIRED)
    gap = Q(status=LanguageModel.Status.PAUSED) | Q(weight__lte=0) | Q(provider__in=providers)
    halted = [model for model in models.configured() if model.is_paid] if cached_is_halted() else []
    return sorted([*listed.filter(gap), *halted], key=_name_order)


_CHANGES = (LanguageModel, Provider, Price, PaidCallsHalt)
cached_not_set_up = TTLCached(
    _load_not_set_up, ttl_s=2, invalidated_by=_CHANGES, is_concerned=lambda row: drawable_cache.owner_of(row) is None
)


@lru_cache(maxsize=drawable_cache.MAX_PLACES)
def _not_set_up_in(team_id: int) -> TTLCached[list[LanguageModel]]:
    return TTLCached(
        partial(_load_not_set_up, team_id),
        ttl_s=2,
        invalidated_by=_CHANGES,
        is_concerned=lambda row: drawable_cache.owner_of(row) in (None, team_id),
    )


def _public_picker(key: str, wanted: Collection[str], search: str, *, shows_all: bool, place: Team | None) -> Picker:
    models = LanguageModel.objects.public()
    if place is not None:
        models = LanguageModel.objects.on_boards_of(place.pk).public().select_related("team")
    matching = models.matching(search)
    found = list(matching if shows_all else matching[:MAX_ROWS])
    is_whole = shows_all or len(found) < MAX_ROWS
    missing = set(wanted) - {model.full_slug for model in found}
    known = [*models.named(missing), *found] if missing else found
    # A plain slug is the site's model here: the team may have one of the same name beside it.
    picked = _or_first([model for model in known if model.full_slug in wanted], KINDS[key], known)
    rows = [*_kept(picked, found), *(Row(model, model in picked) for model in found)]
    found_models = len(found) if is_whole else matching.count()
    return Picker(key, rows, found_models, search, "" if place is None else place.slug)


def _name_order(model: LanguageModel) -> tuple[bool, str, int]:
    return model.team_id is None, model.name.casefold(), model.pk


def _matches(model: LanguageModel, words: Sequence[str]) -> bool:
    text = _searchable(model.name, model.slug, model.organization)
    if model.sees_images:
        text += _("sees images").casefold()
    return all(word in text for word in words)


@lru_cache(maxsize=8192)
def _searchable(*parts: str) -> str:
    return "\n".join(parts).casefold()
