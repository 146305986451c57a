"""/metrics for Prometheus: figures of the whole arena from any web process.

Live figures name no model and no provider: they would reveal which ones answer in a blind battle (docs/adr/0029).
"""

import logging
from collections.abc import Callable, Iterator

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from arena_site.operations import benchmarks, facts
from arena_site.operations.activity import read_activity
from battles.models import Call
from common.cache import TTLCached
from common.client_ip import is_in_networks
from common.db import replica
from common.valkey import counters, heartbeat
from common.valkey.connections import UNREACHABLE
from leaderboard.counting.new_votes import count_of_site
from models_registry.models import Breaker
from reviews.second_opinions.queries import site_agreement

logger = logging.getLogger(__name__)

_page = TTLCached(lambda: generate_latest(ArenaCollector()), ttl_s=5)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer direct clients in ARENA_METRICS_NETWORKS, and those with ARENA_METRICS_TOKEN; 404 for others."""
    if not (_has_token(request) or is_in_networks(request, settings.ARENA_METRICS_NETWORKS)):
        raise Http404
    return HttpResponse(_page(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _has_token(request: HttpRequest) -> bool:
    token = settings.ARENA_METRICS_TOKEN
    return bool(token) and constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}")


class ArenaCollector(Collector):
    """Collects all metrics; an unreachable service has none and `arena_up` 0."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("arena_up", "Whether a service answers.", labels=["service"])
        parts: list[tuple[str, Callable[[], list[Metric]]]] = [
            ("valkey", _process_metrics), ("postgresql", _replica_metrics),
            ("postgresql", replica.reads_replica(_battle_metrics)),
            ("postgresql", replica.reads_replica(_money_and_model_metrics)),
            ("postgresql", replica.reads_replica(_benchmark_metrics)),
            ("postgresql", _agreement_metrics),
        ]  # fmt: skip
        is_up = dict.fromkeys(("valkey", "postgresql"), True)
        for service, read in parts:
            try:
                yield from read()
            except (DatabaseError, *UNREACHABLE) as error:
                logger.warning("metrics are incomplete: %s is away (%s)", service, str(error).strip())
                is_up[service] = False
        for service, value in is_up.items():
            up.add_metric([service], value)
        yield up


def _process_metrics() -> list[Metric]:
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
    dropped_spans = CounterMetricFamily(
        "arena_spans_dropped", "Spans that the collector of traces did not get.",
        counted.get("spans_dropped", {}).get((), 0),
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
        dropped_spans,
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


def _replica_metrics() -> list[Metric]:
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


def _battle_metrics() -> list[Metric]:
    battles = GaugeMetricFamily(
        "arena_battles_today", "Battles begun since midnight UTC, by mode and what became of them.",
        labels=["mode", "state"],
    )  # fmt: skip
    for mode in read_activity().battles_today():
        for state in ("open", "voted", "void"):
            battles.add_metric([mode.mode, state], getattr(mode, state))
    queue = facts.queue()
    turns = GaugeMetricFamily("arena_turns", "Turns that are not done.", labels=["state"])
    for state in ("waiting", "answering", "stuck"):
        turns.add_metric([state], getattr(queue, state))
    published_at = facts.snapshots().published_at
    return [
        battles,
        turns,
        GaugeMetricFamily("arena_queue_age_seconds", "How long the first waiting turn waits.", queue.age_s),
        CounterMetricFamily("arena_votes", "Votes ever cast, without those of teams alone.", count_of_site()),
        GaugeMetricFamily("arena_moderation_waiting", "Cases in the moderation queue.", facts.cases().waiting),
        GaugeMetricFamily(
            "arena_snapshot_timestamp_seconds", "When Overall was last published; 0 before.",
            published_at.timestamp() if published_at else 0,
        ),
    ]  # fmt: skip


def _money_and_model_metrics() -> list[Metric]:
    cost = GaugeMetricFamily(
        "arena_cost_today_dollars", "US dollars of the site (the provider \"\") since midnight UTC.",
        labels=["provider", "state"],
    )  # fmt: skip
    cap = GaugeMetricFamily(
        "arena_budget_dollars", 'What a day may cost; the provider "" is the site.', labels=["provider"]
    )
    site, *providers = facts.spending_today()
    cost.add_metric(["", "spent"], float(site.spent))
    cost.add_metric(["", "reserved"], float(site.reserved))
    for spending in (site, *providers):
        if spending.cap is not None:
            cap.add_metric([spending.name], float(spending.cap))
    breakers = GaugeMetricFamily(
        "arena_breaker_open", "How many models and providers are kept out of the draw.", labels=["kind"]
    )
    for kind, number in (
        Breaker.objects.open().of_site().aggregate(model=Count("model"), provider=Count("provider")).items()
    ):
        breakers.add_metric([kind], number)
    return [cost, cap, breakers]


def _agreement_metrics() -> list[Metric]:
    site = site_agreement()
    shares = GaugeMetricFamily(
        "arena_people_agreement", "How often two people name the same winner in second opinions, with its interval.",
        labels=["bound"],
    )  # fmt: skip
    if site is not None:
        for bound, value in (("low", site.low), ("value", site.value), ("high", site.high)):
            shares.add_metric([bound], value)
    pairs = GaugeMetricFamily(
        "arena_people_agreement_pairs", "Pairs of people that it is from.", site.pairs if site else 0
    )
    return [shares, pairs]


def _benchmark_metrics() -> list[Metric]:
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
