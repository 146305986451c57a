"""When a breaker opens and for how long: outcomes in, a decision out."""

ANSWERED, FAILED, REJECTED = ".", "x", "r"
REMEMBERED = 10
FAILURES_IN_A_ROW = 3
# A refused prompt is its author's fault, but not when nobody's prompt is taken any more.
REJECTED_IN_A_ROW = 5
FIRST_COOLDOWN_S, LONGEST_COOLDOWN_S = 30.0, 3600.0
# What a provider may ask for with Retry-After: below, it is an ordinary failure; above, nobody is believed.
LONG_RETRY_S, LONGEST_RETRY_S = 5.0, 86_400.0


def remember(recent: str, outcome: str) -> str:
    """The newest outcome comes last; what is older than REMEMBERED calls is forgotten."""
    return (recent + outcome)[-REMEMBERED:]


def should_open(recent: str) -> bool:
    """After FAILURES_IN_A_ROW, when half of REMEMBERED calls failed, or when every prompt is rejected."""
    last = recent[-REJECTED_IN_A_ROW:]
    return (
        recent.endswith(FAILED * FAILURES_IN_A_ROW)
        or (len(recent) == REMEMBERED and recent.count(FAILED) * 2 >= REMEMBERED)
        or (len(last) == REJECTED_IN_A_ROW and ANSWERED not in last)
    )


def cooldown_s(openings: int, *, retry_after: float | None) -> float:
    """Seconds until the probe: doubling with every opening (1, 2, …) that no answer came between,
    and at least what the provider asked for."""
    doubled = min(FIRST_COOLDOWN_S * 2.0 ** min(openings - 1, 20), LONGEST_COOLDOWN_S)
    return max(doubled, min(retry_after or 0.0, LONGEST_RETRY_S))
