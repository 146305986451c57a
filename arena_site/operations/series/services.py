import redis
from django.db import connection
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from arena_site.operations import facts
from common.db import replica
from common.valkey.connections import connection as valkey

# The site's role sees the state of its own sessions alone.
_DATABASE = """
SELECT coalesce(state, 'unknown'), count(*),
    coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)) FILTER (WHERE pid <> pg_backend_pid()), 0),
    current_setting('max_connections')::integer, pg_database_size(current_database())
FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1
"""


def database_series() -> list[Metric]:
    with connection.cursor() as cursor:
        cursor.execute(_DATABASE)
        rows = cursor.fetchall()
    connections = GaugeMetricFamily(
        "arena_database_connections", "Connections to the database, by what they do.", labels=["state"]
    )
    for state, number, *_ in sorted(rows):
        connections.add_metric([state], number)
    return [
        connections,
        GaugeMetricFamily("arena_database_max_connections", "Connections that PostgreSQL accepts.", rows[0][3]),
        GaugeMetricFamily("arena_database_bytes", "Size of the database.", rows[0][4]),
        GaugeMetricFamily(
            "arena_database_longest_transaction_seconds", "Age of the oldest transaction of the site.",
            max(float(age) for _, _, age, *_ in rows),
        ),
    ]  # fmt: skip


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


def valkey_series() -> list[Metric]:
    """Return nothing where a hosted server does not tell."""
    try:
        info = valkey().info()
    except redis.ResponseError:
        return []
    return [
        GaugeMetricFamily("arena_valkey_memory_bytes", "Memory that Valkey uses.", info["used_memory"]),
        GaugeMetricFamily("arena_valkey_max_memory_bytes", "Memory that Valkey may use; 0: all.", info["maxmemory"]),
        GaugeMetricFamily("arena_valkey_clients", "Connections to Valkey.", info["connected_clients"]),
        CounterMetricFamily("arena_valkey_evicted_keys", "Keys that Valkey deleted for room.", info["evicted_keys"]),
    ]


def machine_series() -> list[Metric]:
    disk = facts.disk_usage()
    return [
        GaugeMetricFamily("arena_disk_bytes", "Size of the disk with the data, of a web process.", disk.total),
        GaugeMetricFamily("arena_disk_free_bytes", "What is free of it.", disk.free),
    ]
