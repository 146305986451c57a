"""Shares of a provider's room between runs."""

from collections.abc import Mapping


def max_min_shares(room: int, demands: Mapping[int, int]) -> dict[int, int]:
    """Return each run's calls at once, the smallest demands first.

    room: calls at once for all runs.
    Source: max-min fairness by progressive filling.
    """
    shares, remaining = {}, room
    waiting = sorted(demands, key=lambda run: (demands[run], run))
    for number, run in enumerate(waiting):
        shares[run] = min(demands[run], -(-remaining // (len(waiting) - number)))
        remaining -= shares[run]
    return shares
