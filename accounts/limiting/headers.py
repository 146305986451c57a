"""RateLimit header fields. `RateLimit-Policy` and `RateLimit` follow draft-ietf-httpapi-ratelimit-headers-11 (May
2026). `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, of drafts 00 to 06, describe the policy with the
least left.
"""

from collections.abc import Sequence

from common.valkey.limits import NETWORKS, SHARED, Usage


def rate_limit_headers(usages: Sequence[Usage]) -> dict[str, str]:
    shown = _shown(usages)
    if not shown:
        return {}
    tightest = min(shown, key=lambda usage: (usage.remaining, -usage.reset_s))
    return {
        "RateLimit-Policy": ", ".join(
            f'"{_name(usage)}";q={usage.counter.amount};w={usage.counter.window_s}' for usage in shown
        ),
        "RateLimit": ", ".join(f'"{_name(usage)}";r={usage.remaining};t={usage.reset_s}' for usage in shown),
        "RateLimit-Limit": str(tightest.counter.amount),
        "RateLimit-Remaining": str(tightest.remaining),
        "RateLimit-Reset": str(tightest.reset_s),
    }


def _shown(usages: Sequence[Usage]) -> list[Usage]:
    """Leave out shared limits with something left: others' use is private."""
    persons = [usage for usage in usages if usage.counter.who not in SHARED]
    full = [usage for usage in usages if usage.counter.who in SHARED and not usage.remaining]
    shown = [*persons, *full] if persons else usages
    return list({_name(usage): usage for usage in shown}.values())


def _name(usage: Usage) -> str:
    """Return “battle-hour”, “battle-network-hour”."""
    counter = usage.counter
    who = [counter.who] if counter.who in NETWORKS else []
    return "-".join([counter.action, *who, counter.period])
