"""The series of /metrics by subject."""

from collections.abc import Callable

from prometheus_client.metrics_core import Metric

from arena_site.operations.series.battles import agreement_series, battle_series
from arena_site.operations.series.benchmark_runs import benchmark_series
from arena_site.operations.series.counts import count_series
from arena_site.operations.series.money import money_series
from arena_site.operations.series.services import database_series, machine_series, replica_series, valkey_series
from arena_site.operations.series.slow import slow_series
from common.db import replica

PARTS: list[Callable[[], list[Metric]]] = [
    count_series,
    valkey_series,
    machine_series,
    database_series,
    replica_series,
    replica.reads_replica(battle_series),
    replica.reads_replica(money_series),
    replica.reads_replica(benchmark_series),
    agreement_series,
    slow_series,
]
