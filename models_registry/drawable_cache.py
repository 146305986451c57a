from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

from django.db import models

from accounts.models import Team
from common.cache import DerivedCached, TTLCached
from models_registry.models import Breaker, Budget, LanguageModel, Price, Provider
from models_registry.models.availability import Availability
from models_registry.models.ledger import PaidCallsHalt

T = TypeVar("T")

TTL_S = 1
# Teams whose rosters a process keeps.
MAX_PLACES = 1_000


class Roster(NamedTuple):
    """Configured models in three lists, each a subset of the one before.

    Only `choosable` may be shown to people or decide anything they see: calls of a blind battle spend money and open
    breakers, so the other lists would reveal its models (docs/adr/0029).
    """

    choosable: list[LanguageModel]  # as configured by administrators
    payable: list[LanguageModel]  # those with money left in today's budgets
    drawable: list[LanguageModel]  # those whose breakers are closed and whose servers answer
    team_id: int | None = None
    has_site_models: bool = True


def by_name(models: Iterable[LanguageModel]) -> dict[str, LanguageModel]:
    """Return models by their slugs, those of teams also by `<team>~<slug>`."""
    return {name: model for model in models for name in model.slugs}


class _Own(NamedTuple):
    """A team's own models. hidden: slugs of the site's that these stand for."""

    roster: Roster
    hidden: frozenset[str]


def _roster_among(models: list[LanguageModel], *, team_id: int | None = None, has_site_models: bool = True) -> Roster:
    availability = Availability(models)
    availability.lower_trial_weights(models)
    choosable = [model for model in models if not availability.is_halted(model)]
    payable = [model for model in choosable if not availability.budget_reason(model)]
    drawable = [model for model in payable if not availability.health_reason(model)]
    return Roster(choosable, payable, drawable, team_id, has_site_models)


def _load_roster() -> Roster:
    return _roster_among(LanguageModel.objects.configured())


def _load_own(team_id: int) -> _Own:
    own = LanguageModel.of_every_owner.filter(team=team_id).select_related("team", "provider__team")
    hidden = frozenset(own.hiding_names().values_list("slug", flat=True))
    has_site_models = Team.objects.filter(pk=team_id, uses_site_models=True).exists()
    return _Own(_roster_among(own.configured(), team_id=team_id, has_site_models=has_site_models), hidden)


def _in_place(own: _Own, of_site: Roster) -> Roster:
    mine = own.roster
    if not mine.has_site_models:
        return mine

    def joined(own_models: list[LanguageModel], sites: list[LanguageModel]) -> list[LanguageModel]:
        return [*own_models, *(model for model in sites if model.slug not in own.hidden)]

    return mine._replace(
        choosable=joined(mine.choosable, of_site.choosable),
        payable=joined(mine.payable, of_site.payable),
        drawable=joined(mine.drawable, of_site.drawable),
    )


def owner_of(row: models.Model) -> int | None:
    """Return the id of the team that a change is about; None: the site, and so every place."""
    match row:
        case Team():
            return row.pk
        case LanguageModel() | Provider():
            return row.team_id
        case Price():
            return _owner_by_id(LanguageModel, row.model_id)
        case Breaker():
            return _owner_by_id(*((LanguageModel, row.model_id) if row.model_id else (Provider, row.provider_id)))
    return None


@lru_cache(maxsize=4_096)
def _owner_by_id(kind: type[LanguageModel | Provider], pk: int) -> int | None:
    return kind.of_every_owner.filter(pk=pk).values_list("team", flat=True).first()  # it never changes


_CHANGES = (LanguageModel, Provider, Price, Breaker, Budget, PaidCallsHalt)

# Uncached, a hundred concurrent battles would query all models, prices and breakers a hundred times. A load costs
# more than a whole request of the gateway.
# The lists and models are shared by threads: treat them as read-only.
cached_roster = TTLCached(
    _load_roster,
    ttl_s=TTL_S,
    invalidated_by=_CHANGES,
    is_concerned=lambda row: owner_of(row) is None,
    refreshes_early=True,
)


@lru_cache(maxsize=MAX_PLACES)
def _cached_own(team_id: int) -> TTLCached[_Own]:
    return TTLCached(partial(_load_own, team_id), ttl_s=TTL_S, refreshes_early=True)


@lru_cache(maxsize=MAX_PLACES)
def _cached_in_place(team_id: int) -> DerivedCached[Roster]:
    return DerivedCached(_in_place, from_=(_cached_own(team_id), cached_roster))


def _on_change(instance: models.Model, **_: object) -> None:
    owner = owner_of(instance)
    if owner is not None:
        _cached_own(owner).invalidate_with_commit()


for _sender in (*_CHANGES, Team):
    models.signals.post_save.connect(_on_change, sender=_sender)
    models.signals.post_delete.connect(_on_change, sender=_sender)


def roster_of(team_id: int | None) -> Roster:
    """Return a place's models, a team's own first."""
    return cached_roster() if team_id is None else _cached_in_place(team_id)()


def kept_by_place(build: Callable[..., T], *others: Callable[[], object]) -> Callable[[int | None], T]:
    """Return a function of a place's id that keeps `build` of its roster and `others`."""

    @lru_cache(maxsize=MAX_PLACES)
    def cached(team_id: int | None) -> DerivedCached[T]:
        return DerivedCached(build, from_=(partial(roster_of, team_id), *others))

    return lambda team_id: cached(team_id)()
