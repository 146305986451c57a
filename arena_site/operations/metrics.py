"""/metrics for Prometheus: figures of the whole arena from any web process.

Live figures name no model and no provider: they would reveal which ones answer in a blind battle (docs/adr/0029).
"""

import logging
from collections.abc import Iterator

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from arena_site.operations.series import PARTS
from common.cache import TTLCached
from common.client_ip import is_in_networks
from common.valkey.connections import UNREACHABLE

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
        is_up = dict.fromkeys(("valkey", "postgresql"), True)
        for read in PARTS:
            try:
                yield from read()
            except (DatabaseError, *UNREACHABLE) as error:
                service = "postgresql" if isinstance(error, DatabaseError) else "valkey"
                logger.warning("metrics are incomplete: %s is away (%s)", service, str(error).strip())
                is_up[service] = False
        for service, value in is_up.items():
            up.add_metric([service], value)
        yield up
