"""Outcomes of calls as letters, newest last, and when they open a breaker."""

ANSWERED, FAILED, REJECTED = ".", "x", "r"
# A failure that no prompt causes: an outage, a key, a pause, a time-out.
DOWN = "d"
# A failure that counts only among people: of the gateway, or of a person whose failures a question has cleared.
PERSONAL = "c"
# All of `recent` while a breaker is open because people had no answer.
BY_PEOPLE = "p"
# Outcomes that are remembered.
WINDOW = 10
FAILURES_IN_A_ROW = 3
# One rejected prompt may be its author's fault; so many in a row are the model's or its settings'.
REJECTED_IN_A_ROW = 5
# So many conversations without an answer open a breaker, if so many people had them.
CONVERSATIONS, PEOPLE = 10, 3
MIN_COOLDOWN_S, MAX_COOLDOWN_S = 30.0, 3600.0
# A Retry-After from the first value on opens the breaker at once; one above the second is shortened to it.
OPENING_RETRY_AFTER_S, MAX_RETRY_AFTER_S = 5.0, 86_400.0
# Share of the lowest sampling weight that a model has while people's calls try it again.
TRIAL_SHARE = 0.05

_QUESTIONABLE_PASS = str.maketrans({FAILED: ANSWERED, REJECTED: ANSWERED})
_CLEAR = str.maketrans({FAILED: PERSONAL, REJECTED: PERSONAL})


def append_outcome(recent: str, outcome: str) -> str:
    """Return at most WINDOW outcomes, the newest last."""
    return (recent + outcome)[-WINDOW:]


def should_open(recent: str) -> bool:
    """Return whether FAILURES_IN_A_ROW, half of WINDOW calls, or REJECTED_IN_A_ROW without an answer went wrong."""
    recent = recent.replace(PERSONAL, "").replace(DOWN, FAILED)
    last = recent[-REJECTED_IN_A_ROW:]
    return (
        recent.endswith(FAILED * FAILURES_IN_A_ROW)
        or (len(recent) == WINDOW and recent.count(FAILED) * 2 >= WINDOW)
        or (len(last) == REJECTED_IN_A_ROW and ANSWERED not in last)
    )


def is_down(recent: str) -> bool:
    """Return whether the breaker opens by outages alone, so that no question is needed."""
    return should_open(recent.translate(_QUESTIONABLE_PASS))


def clear(recent: str) -> str:
    """Return the outcomes after an answered question."""
    return recent.translate(_CLEAR)


def cooldown_s(openings: int, *, retry_after: float | None) -> float:
    """Return seconds until the probe: doubled with each opening since the last answer, at least retry_after.

    openings: from 1.
    """
    doubled = min(MIN_COOLDOWN_S * 2.0 ** min(openings - 1, 20), MAX_COOLDOWN_S)
    return max(doubled, min(retry_after or 0.0, MAX_RETRY_AFTER_S))
