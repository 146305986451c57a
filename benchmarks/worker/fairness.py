"""Shares of a provider's room between runs."""

from collections.abc import Mapping


def max_min_shares(room: int, demands: Mapping[int, int]) -> dict[int, int]:
    """Return for each run how many calls at once it may have, the smallest demands first.

    room: calls at once for all runs. No run gets more than its demand; the rest goes to larger demands, so a
    run of 20 items is not held up by one of 200,000. Source: max-min fairness by progressive filling.
    """
    shares, left = {}, room
    waiting = sorted(demands, key=lambda run: (demands[run], run))
    for number, run in enumerate(waiting):
        shares[run] = min(demands[run], -(-left // (len(waiting) - number)))
        left -= shares[run]
    return shares
