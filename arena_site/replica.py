"""Router of reads to the replica, and checks of its address."""

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from common.db import reading, replica

# Not the apps of accounts and sessions: a person that has just signed in is signed in.
APPS = {"battles", "benchmarks", "leaderboard", "models_registry"}
# Every page lists the reader's own.
NEVER = {"battles.session"}


class ReplicaRouter:
    """Sends reads of public rows to the replica where the context allows it, and every write to the primary."""

    def db_for_read(self, model: type[Model], **hints: object) -> str:
        options = model._meta
        may_lag = options.app_label in APPS and options.label_lower not in NEVER
        return reading.alias() if may_lag else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: object) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Model, other: Model, **hints: object) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == DEFAULT_DB_ALIAS


@register()
def check_address(**_: object) -> list[CheckMessage]:
    if not replica.is_configured():
        return []
    primary, standby = (
        [settings.DATABASES[alias].get(name) for name in ("HOST", "PORT", "NAME")]
        for alias in (DEFAULT_DB_ALIAS, reading.REPLICA)
    )
    if primary == standby:
        return [Error("DATABASE_REPLICA_URL names the database of DATABASE_URL.", id="arena_site.E002")]
    return []


@register(deploy=True)
def check_standby(**_: object) -> list[CheckMessage]:
    """Connect, and say why the replica would not be read."""
    if not replica.is_configured():
        return []
    status = replica.Watcher().check()
    if status.problem is None:
        return []
    return [Warning(f"The replica {status.problem}: {status.detail}.", id="arena_site.W002")]
