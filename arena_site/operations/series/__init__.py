"""The series of /metrics by subject, each part with the service that it is read from."""

from collections.abc import Callable

from prometheus_client.metrics_core import Metric

from arena_site.operations.series.battles import agreement_series, battle_series
from arena_site.operations.series.benchmark_runs import benchmark_series
from arena_site.operations.series.counts import count_series
from arena_site.operations.series.money import money_series
from arena_site.operations.series.services import replica_series
from common.db import replica

PARTS: list[tuple[str, Callable[[], list[Metric]]]] = [
    ("valkey", count_series),
    ("postgresql", replica_series),
    ("postgresql", replica.reads_replica(battle_series)),
    ("postgresql", replica.reads_replica(money_series)),
    ("postgresql", replica.reads_replica(benchmark_series)),
    ("postgresql", agreement_series),
]
