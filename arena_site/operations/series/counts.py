"""Counts of all processes in Valkey."""

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from common.db import replica
from common.valkey import counters, heartbeat


def count_series() -> list[Metric]:
    """Return the counts of all processes in Valkey."""
    counted = counters.read()
    requests = CounterMetricFamily(
        "arena_requests", "Requests by part of the site and class of status.", labels=["handler", "status"]
    )
    ended_calls = CounterMetricFamily(
        "arena_ended_calls", "Calls to models that ended, by how: done, stopped, or the code of a failure.",
        labels=["outcome"],
    )  # fmt: skip
    calls = CounterMetricFamily(
        "arena_calls", "The same by model; calls of blind battles from the first snapshot after their vote on.",
        labels=["model", "outcome"],
    )  # fmt: skip
    decisions = CounterMetricFamily("arena_route_decisions", "Decisions of auto mode, by target.", labels=["target"])
    of_labels = ((requests, "requests"), (ended_calls, "ended_calls"), (calls, "calls"), (decisions, "decisions"))
    for family, name in of_labels:
        for labels, number in sorted(counted.get(name, {}).items()):
            family.add_metric(labels, number)
    repeated = CounterMetricFamily(
        "arena_replica_fallbacks", "Reads that the replica failed and the primary answered.",
        counted.get("replica_fallbacks", {}).get((), 0),
    )  # fmt: skip
    streams = GaugeMetricFamily("arena_streams", "Open streams of server-sent events.", counters.gauges()["streams"])
    up = GaugeMetricFamily("arena_process_up", "Whether a background process sends heartbeats.", labels=["process"])
    missing = heartbeat.missing()
    for process in heartbeat.EXPECTED:
        up.add_metric([process], process not in missing)
    return [
        requests,
        ended_calls,
        calls,
        decisions,
        _histogram(
            counted,
            "request",
            "arena_request_duration_seconds",
            "Time to answer requests; to begin streams.",
            "handler",
        ),
        _histogram(
            counted, "any_first_token", "arena_any_first_token_seconds", "From the call to the answer's first words."
        ),
        _histogram(
            counted,
            "first_token",
            "arena_first_token_seconds",
            "The same by model; of blind battles from the first snapshot after their vote on.",
            "model",
        ),
        streams,
        *([repeated] if replica.is_configured() else []),
        up,
    ]


def _histogram(
    counted: dict[str, dict[counters.Labels, int]], counter: str, name: str, documentation: str, *labels: str
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(name, documentation, labels=labels)
    for values, total_ms in sorted(counted.get(f"{counter}.sum", {}).items()):
        cumulated, buckets = 0, []
        for bound in (*counters.BUCKETS_MS, None):
            cumulated += counted.get(f"{counter}.{bound or 'inf'}", {}).get(values, 0)
            buckets.append(("+Inf" if bound is None else str(bound / 1000), cumulated))
        family.add_metric(values, buckets, sum_value=total_ms / 1000)
    return family
