from common.valkey import counters


def count_by_model(slug: str, outcome: str, *, first_token_ms: int | None) -> None:
    """Count an ended call for /metrics. outcome: the call's error, or else its state."""
    counters.add("calls", slug, outcome)
    if first_token_ms is not None:
        counters.observe("first_token", slug, ms=first_token_ms)
