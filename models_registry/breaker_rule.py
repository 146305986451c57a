ANSWERED, FAILED, REJECTED = ".", "x", "r"
# Outcomes that are remembered.
WINDOW = 10
FAILURES_IN_A_ROW = 3
# One rejected prompt may be its author's fault; so many in a row are the model's or its settings'.
REJECTED_IN_A_ROW = 5
MIN_COOLDOWN_S, MAX_COOLDOWN_S = 30.0, 3600.0
# A Retry-After from the first value on opens the breaker at once; one above the second is shortened to it.
OPENING_RETRY_AFTER_S, MAX_RETRY_AFTER_S = 5.0, 86_400.0


def append_outcome(recent: str, outcome: str) -> str:
    """Return at most WINDOW outcomes, the newest last."""
    return (recent + outcome)[-WINDOW:]


def should_open(recent: str) -> bool:
    """Return whether FAILURES_IN_A_ROW, half of WINDOW calls, or REJECTED_IN_A_ROW without an answer went wrong."""
    last = recent[-REJECTED_IN_A_ROW:]
    return (
        recent.endswith(FAILED * FAILURES_IN_A_ROW)
        or (len(recent) == WINDOW and recent.count(FAILED) * 2 >= WINDOW)
        or (len(last) == REJECTED_IN_A_ROW and ANSWERED not in last)
    )


def cooldown_s(openings: int, *, retry_after: float | None) -> float:
    """Return seconds until the probe: doubled with each opening since the last answer, at least retry_after.

    openings: from 1.
    """
    doubled = min(MIN_COOLDOWN_S * 2.0 ** min(openings - 1, 20), MAX_COOLDOWN_S)
    return max(doubled, min(retry_after or 0.0, MAX_RETRY_AFTER_S))
