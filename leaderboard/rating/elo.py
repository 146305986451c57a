"""Sequential Elo, updated with every vote; leaderboard/sql/elo.sql computes the same."""

START = 1500.0
K = 32.0
# Points of a lead with odds of ten to one.
SCALE = 400.0


def expected_share(left: float, right: float) -> float:
    return float(1 / (1 + 10 ** ((right - left) / SCALE)))


def after_vote(left: float, right: float, *, left_share: float, k: float = K) -> tuple[float, float]:
    """Return (left, right) after a vote. left_share: 1, 0, or ½ for a tie of either kind."""
    change = k * (left_share - expected_share(left, right))
    return left + change, right - change


def before_vote(left: float, right: float, *, left_share: float) -> tuple[float, float]:
    """Return (left, right) before a vote: the inverse of after_vote.

    Fixed-point iteration of gap = gap_after - 2K (left_share - expected_share(gap)). The right side is a contraction
    with factor 2K ln(10)/1600 < 0.1, so each iteration gains a decimal digit.
    """
    gap = left - right
    for _ in range(16):
        gap = left - right - 2 * K * (left_share - expected_share(gap, 0))
    change = (left - right - gap) / 2
    return left - change, right + change
