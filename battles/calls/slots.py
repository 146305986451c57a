"""Slots for calls: limits of providers and models, and the room that background calls leave to people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import DurationField, ExpressionWrapper, F, Value
from django.db.models.functions import Coalesce, Now

from battles.models import Call
from battles.sql import read_sql
from models_registry.models import LanguageModel, Provider

# A provider or model with one slot takes background calls only after this long without a live one.
QUIET = timedelta(seconds=60)
# The longest a live call may have lasted that ended within QUIET.
_MAX_DURATION = timedelta(minutes=10)

NO_PACES: Mapping[int, int] = {}
# ("model", "provider" or "team", id)
_Key = tuple[str, int]


def take_slots(
    models: Sequence[LanguageModel], *, background: bool = False, paces: Mapping[int, int] = NO_PACES
) -> list[bool]:
    """Return for each model whether a call may start now.

    models: with their providers. Locks providers with a limit, and all of a team, until COMMIT, when the started calls
    are rows that others count. Background calls lock every provider, leave a quarter of a limit free, and none starts
    where a person's call waits. paces: further limits of all background calls, by provider id.
    """
    providers = {model.provider_id for model in models if background or is_limited(model)}
    if not providers:
        return [True] * len(models)
    of_teams: dict[int, int] = {}
    if teams := {model.team_id for model in models if model.team_id is not None}:
        of_teams = dict(Provider.of_every_owner.filter(team__in=teams).values_list("pk", "team"))
        providers |= of_teams.keys()
    list(Provider.of_every_owner.select_for_update(no_key=True).filter(pk__in=providers).order_by("pk"))
    slots = _BackgroundSlots(providers, paces, of_teams) if background else _Slots(providers)
    return [slots.take(model) for model in models]


def is_limited(model: LanguageModel) -> bool:
    return bool(model.calls_at_once or model.provider.calls_at_once or model.team_id)


def _limits(model: LanguageModel) -> dict[_Key, int | None]:
    limits: dict[_Key, int | None] = {
        ("model", model.pk): model.calls_at_once,
        ("provider", model.provider_id): model.provider.calls_at_once,
    }
    return limits if model.team_id is None else {**limits, ("team", model.team_id): settings.ARENA_TEAM_CALLS}


class _Slots:
    """Slots in use at locked providers."""

    def __init__(self, providers: set[int]) -> None:
        running = Call.objects.holding_slots().filter(model__provider__in=providers)
        self._in_use: Counter[_Key] = Counter()
        for model_id, provider_id, team_id in running.values_list("model_id", "model__provider_id", "model__team_id"):
            self._in_use.update([("model", model_id), ("provider", provider_id)])
            if team_id is not None:
                self._in_use["team", team_id] += 1

    def take(self, model: LanguageModel) -> bool:
        limits = _limits(model)
        is_free = all(limit is None or self._in_use[key] < limit for key, limit in limits.items())
        if is_free:
            self._in_use.update(limits.keys())
        return is_free


class _BackgroundSlots:
    """Slots that people's calls leave free at locked providers."""

    def __init__(self, providers: set[int], paces: Mapping[int, int], teams: Mapping[int, int]) -> None:
        """teams: of providers that are a team's."""
        self._paces = paces
        self._providers = providers
        self._teams = teams
        self._in_use: Counter[_Key] = Counter()
        self._background: Counter[int] = Counter()
        self._waiting: set[int] = set()
        self._busy: set[_Key] | None = None
        with connection.cursor() as cursor:
            cursor.execute(read_sql("background_slots.sql"), [list(providers)])
            rows = cursor.fetchall()
        for model_id, provider_id, purpose, state, n in rows:
            if state == Call.State.WAITING:
                self._waiting.add(provider_id)
                continue
            self._in_use.update(dict.fromkeys(self._keys(model_id, provider_id), n))
            self._background[provider_id] += n if purpose in Call.BACKGROUND else 0

    def take(self, model: LanguageModel) -> bool:
        limits = _limits(model)
        pace = self._paces.get(model.provider_id)
        is_free = (
            model.provider_id not in self._waiting
            and (pace is None or self._background[model.provider_id] < pace)
            and all(self._has_room(key, limit) for key, limit in limits.items())
        )
        if is_free:
            self._in_use.update(limits.keys())
            self._background[model.provider_id] += 1
        return is_free

    def _has_room(self, key: _Key, limit: int | None) -> bool:
        kind, number = key
        if limit is None:
            return kind == "model" or self._background[number] < settings.ARENA_BACKGROUND_CALLS
        if limit == 1:
            return not self._in_use[key] and key not in self._lately_live()
        return self._in_use[key] + 1 <= limit - headroom(limit)

    def _lately_live(self) -> set[_Key]:
        """Return models, providers and teams with a person's call within QUIET."""
        if self._busy is None:
            lasted = Coalesce(F("total_ms"), 0) * Value(timedelta(milliseconds=1))
            ended_at = F("started_at") + ExpressionWrapper(lasted, output_field=DurationField())
            live = Call.objects.exclude(purpose__in=[*Call.BACKGROUND, Call.Purpose.PROBE])
            lately = live.filter(model__provider__in=self._providers, started_at__gt=Now() - QUIET - _MAX_DURATION)
            rows = lately.annotate(ended_at=ended_at).filter(ended_at__gt=Now() - QUIET).order_by()
            self._busy = {
                key
                for model_id, provider_id in rows.values_list("model_id", "model__provider_id").distinct()
                for key in self._keys(model_id, provider_id)
            }
        return self._busy

    def _keys(self, model_id: int, provider_id: int) -> list[_Key]:
        team = self._teams.get(provider_id)
        keys = [("model", model_id), ("provider", provider_id)]
        return keys if team is None else [*keys, ("team", team)]


def headroom(limit: int) -> int:
    """Return how many of a limit's slots background calls leave free: a quarter, rounded up."""
    return -(-limit // 4)
