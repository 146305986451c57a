from django.db.models import Count
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from arena_site.operations import facts
from models_registry.models import Breaker


def money_series() -> list[Metric]:
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
        "arena_breaker_open",
        "How many active models, and providers of such, are kept out of the draw.",
        labels=["kind"],
    )
    kept_out = Breaker.objects.open().of_site().of_active()
    numbers = {kind: Count(kind, distinct=True) for kind in ("model", "provider")}
    for kind, number in kept_out.aggregate(**numbers).items():
        breakers.add_metric([kind], number)
    return [cost, cap, breakers]
