from django.db import connection
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from common.db import replica


def replica_series() -> list[Metric]:
    if not replica.is_configured():
        return []
    with connection.cursor() as cursor:  # the other figures are read from the replica also while the primary is away
        cursor.execute("SELECT 1")
    is_usable = replica.watcher.is_usable()
    return [
        GaugeMetricFamily("arena_replica_up", "Whether this process reads the replica.", is_usable),
        GaugeMetricFamily(
            "arena_replica_lag_seconds", "By how much the replica is behind at most; +Inf if unknown.",
            replica.watcher.status.lag_s,
        ),
    ]  # fmt: skip
