from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from arena_site.operations import benchmarks
from battles.models import Call


def benchmark_series() -> list[Metric]:
    items = GaugeMetricFamily("arena_benchmark_items", "Items of benchmark runs under way.", labels=["state"])
    for state, n in sorted(benchmarks.items_by_state().items()):
        items.add_metric([state], n)
    calls = GaugeMetricFamily(
        "arena_benchmark_calls", "Calls of benchmark runs within the last hour, by state or code of a failure.",
        labels=["outcome"],
    )  # fmt: skip
    for outcome, n in sorted(benchmarks.calls_by_outcome().items()):
        calls.add_metric([outcome], n)
    judges = GaugeMetricFamily(
        "arena_judge_calls", "Calls of judges within the last hour, by state or code of a failure.", labels=["outcome"]
    )
    for outcome, n in sorted(benchmarks.calls_by_outcome(Call.Purpose.JUDGE).items()):
        judges.add_metric([outcome], n)
    pace = GaugeMetricFamily(
        "arena_benchmark_pace",
        "Calls of benchmark runs that a provider takes at once, as learned.",
        labels=["provider"],
    )
    for provider, allowed in benchmarks.paces().items():
        pace.add_metric([provider], allowed)
    return [
        items,
        calls,
        judges,
        pace,
        GaugeMetricFamily(
            "arena_benchmark_queue_age_seconds", "How long the first due item waits.", benchmarks.queue_age_s()
        ),
        GaugeMetricFamily(
            "arena_benchmark_preemptions", "How often calls of runs under way made room for people.",
            benchmarks.preemptions(),
        ),
    ]  # fmt: skip
