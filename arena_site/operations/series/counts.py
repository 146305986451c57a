"""Counts of all processes in Valkey."""

from collections import Counter

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from battles.calls import NANODOLLARS
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
    decisions = CounterMetricFamily(
        "arena_route_decisions", "Decisions of auto mode, by target and type of question.", labels=["target", "type"]
    )
    votes = CounterMetricFamily(
        "arena_votes", 'Votes as they are cast, without those of teams alone; counted: "no" if excluded at once.',
        labels=["counted"],
    )  # fmt: skip
    exchanges = CounterMetricFamily("arena_gateway_requests", "Requests to /v1 by status.", labels=["code"])
    of_labels = (
        (requests, "requests"), (ended_calls, "ended_calls"), (calls, "calls"), (decisions, "decisions"),
        (votes, "votes"), (exchanges, "gateway_requests"),
    )  # fmt: skip
    for family, name in of_labels:
        for labels, number in sorted(counted.get(name, {}).items()):
            family.add_metric(labels, number)
    cost = CounterMetricFamily(
        "arena_cost_dollars",
        "US dollars by provider, of the calls that arena_calls counts by model.",
        labels=["provider"],
    )
    for labels, nanodollars in sorted(counted.get("cost", {}).items()):
        cost.add_metric(labels, nanodollars / NANODOLLARS)
    repeated = CounterMetricFamily(
        "arena_replica_fallbacks", "Reads that the replica failed and the primary answered.",
        counted.get("replica_fallbacks", {}).get((), 0),
    )  # fmt: skip
    dropped_spans = CounterMetricFamily(
        "arena_spans_dropped", "Spans that the collector of traces did not get.",
        counted.get("spans_dropped", {}).get((), 0),
    )  # fmt: skip
    levels = counters.gauges()
    streams = GaugeMetricFamily("arena_streams", "Open streams of server-sent events.", levels["streams"])
    up = GaugeMetricFamily("arena_process_up", "Whether a background process sends heartbeats.", labels=["process"])
    missing = heartbeat.missing()
    for process in heartbeat.EXPECTED:
        up.add_metric([process], process not in missing)
    return [
        requests,
        ended_calls,
        calls,
        decisions,
        votes,
        exchanges,
        cost,
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
        _histogram(counted, "any_answer", "arena_any_answer_seconds", "From the call to the whole answer's end."),
        _histogram(
            counted,
            "answer",
            "arena_answer_seconds",
            "The same by model; of blind battles from the first snapshot after their vote on.",
            "model",
        ),
        dropped_spans,
        streams,
        *([repeated] if replica.is_configured() else []),
        up,
        *_usage(counted, levels),
    ]


def _usage(counted: dict[str, dict[counters.Labels, int]], levels: Counter[str]) -> list[Metric]:
    cpu = CounterMetricFamily(
        "arena_process_cpu_seconds", "Processor time of processes by kind, without their children.", labels=["process"]
    )
    for labels, ms in sorted(counted.get("cpu_ms", {}).items()):
        cpu.add_metric(labels, ms / 1000)
    memory = GaugeMetricFamily(
        "arena_process_memory_bytes", "Resident memory of processes by kind, without their children.",
        labels=["process"],
    )  # fmt: skip
    for name, size in sorted(levels.items()):
        if name.startswith(counters.MEMORY):
            memory.add_metric([name.removeprefix(counters.MEMORY)], size)
    return [cpu, memory]


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
