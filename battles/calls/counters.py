from decimal import Decimal

from common.valkey import counters

NANODOLLARS = 10**9


def count_ended(outcome: str, *, first_token_ms: int | None, total_ms: int | None) -> None:
    """Count an ended call for the figures of /metrics that name no model. outcome: the call's error, or its state."""
    counters.add("ended_calls", outcome)
    if first_token_ms is not None:
        counters.observe("any_first_token", ms=first_token_ms)
    if total_ms is not None and outcome == "done":
        counters.observe("any_answer", ms=total_ms)


def count_by_model(
    slug: str, provider: str, outcome: str, *, first_token_ms: int | None, total_ms: int | None, cost: Decimal | None
) -> None:
    """Count an ended call for /metrics whose model may be named."""
    counters.add("calls", slug, outcome)
    if first_token_ms is not None:
        counters.observe("first_token", slug, ms=first_token_ms)
    if total_ms is not None and outcome == "done":
        counters.observe("answer", slug, ms=total_ms)
    if cost:
        counters.add("cost", provider, by=round(cost * NANODOLLARS))
