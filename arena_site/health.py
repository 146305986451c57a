"""Health checks: /livez (restart the process when it fails), /readyz (send requests while it succeeds)."""

from collections.abc import Callable
from functools import cache

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from common.db import replica
from common.valkey import heartbeat
from common.valkey.connections import UNREACHABLE, with_retry
from leaderboard.models import AggregationRun
from models_registry.encryption import KeyUnreadable
from models_registry.models import LanguageModel, Provider

OK = "ok"


class NotReady(Exception):
    """Raised by a failed check, with a few words about it."""


@require_safe
@never_cache
def livez(request: HttpRequest) -> HttpResponse:
    """Answer 200 without any service, while the process responds."""
    return HttpResponse(OK, content_type="text/plain")


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when everything works, otherwise 503; `checks` maps each part to "ok" or its fault.

    failed_boards: boards whose fit failed at the last aggregation; they keep their newest snapshot. replica: "ok", or
    why the primary is read instead; the site is ready without it.
    """
    missing: list[str] = []
    set_up: list[LanguageModel] = []
    failed_boards: list[str] = []
    checks = {
        "database": _outcome(_check_database),
        "valkey": _outcome(lambda: missing.extend(with_retry(heartbeat.missing))),  # while a breaker is open: away
    }
    if checks["database"] == OK:
        checks["migrations"] = _outcome(_check_migrations)
    if checks.get("migrations") == OK:
        checks["provider_keys"] = _outcome(_check_provider_keys)
    if checks["valkey"] == OK:
        checks |= {name: "not heard" if name in missing else OK for name in heartbeat.EXPECTED}
    if set(checks.values()) == {OK}:
        # Not the models that are drawn right now: a change of their number would reveal which failed in a blind battle.
        checks["database"] = _outcome(lambda: set_up.extend(LanguageModel.objects.configured()))
    if set(checks.values()) == {OK}:
        checks["database"] = _outcome(lambda: failed_boards.extend(AggregationRun.objects.failed_boards()))
    ready = set(checks.values()) == {OK}
    body: dict[str, object] = {
        "ready": ready, "checks": checks, "drawable_models": len(set_up), "failed_boards": failed_boards
    }  # fmt: skip
    if replica.is_configured():
        body["replica"] = OK if replica.watcher.is_usable() else replica.watcher.status.problem or "is not checked"
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


@cache  # applied migrations stay applied; an exception is not cached
def _check_migrations() -> None:
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise NotReady("not applied")


def _check_provider_keys() -> None:
    """Decrypt one stored key; all were encrypted with the same keys."""
    provider = Provider.of_every_owner.exclude(key_encrypted=None).first()
    try:
        if provider is not None:
            provider.read_key()
    except (KeyUnreadable, ImproperlyConfigured) as error:
        raise NotReady("stored keys cannot be decrypted with ARENA_ENCRYPTION_KEYS") from error
