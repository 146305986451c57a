"""Whether this installation works: /livez for "restart me if not", /readyz for "send me people"."""

from collections.abc import Callable
from functools import cache

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common.valkey import heartbeat
from common.valkey.connections import UNREACHABLE
from leaderboard.models import AggregationRun
from models_registry.encryption import KeyUnreadable
from models_registry.models import LanguageModel, Provider

OK = "ok"


class NotReady(Exception):
    """What is wrong, in a few words."""


@require_safe
@never_cache
def livez(request: HttpRequest) -> HttpResponse:
    """Answers while the process does, whatever else is away."""
    return HttpResponse(OK, content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything works, otherwise 503; `checks` maps each part to "ok" or to what is wrong with it.

    failed_boards: those whose fit failed at the last aggregation; they keep their newest snapshot.
    """
    missing: list[str] = []
    choosable: list[LanguageModel] = []
    failed_boards: list[str] = []
    checks = {
        "database": _outcome(_check_database),
        "valkey": _outcome(lambda: missing.extend(heartbeat.missing())),
    }
    if checks["database"] == OK:
        checks["migrations"] = _outcome(_check_migrations)
    if checks.get("migrations") == OK:
        checks["provider_keys"] = _outcome(_check_provider_keys)
    if checks["valkey"] == OK:
        checks |= {name: "not heard" if name in missing else OK for name in heartbeat.EXPECTED}
    if set(checks.values()) == {OK}:
        # Not those that are drawn at the moment: how many these are tells who failed in a blind battle.
        checks["database"] = _outcome(lambda: choosable.extend(LanguageModel.objects.configured()))
    if set(checks.values()) == {OK}:
        checks["database"] = _outcome(lambda: failed_boards.extend(AggregationRun.objects.failed_boards()))
    ready = set(checks.values()) == {OK}
    body = {"ready": ready, "checks": checks, "drawable_models": len(choosable), "failed_boards": failed_boards}
    return JsonResponse(body, status=200 if ready else 503)


def _outcome(check: Callable[[], None]) -> str:
    try:
        check()
    except NotReady as error:
        return str(error)
    except (DatabaseError, *UNREACHABLE):
        return "away"
    return OK


def _check_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@cache  # what is applied stays applied; a refusal is raised, and so is not remembered
def _check_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReady("not applied")


def _check_provider_keys() -> None:
    """One stored key stands for all: they were encrypted alike."""
    provider = Provider.objects.exclude(key_encrypted=None).first()
    try:
        if provider is not None:
            provider.read_key()
    except (KeyUnreadable, ImproperlyConfigured) as error:
        raise NotReady("stored keys cannot be decrypted with ARENA_ENCRYPTION_KEYS") from error
