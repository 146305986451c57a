"""Sequential Elo, updated with every vote; leaderboard/sql/elo.sql computes the same."""

# Defaults. Greater values of K than MAX_K would need more iterations in before_vote.
START = 1500.0
K = 32.0
MAX_K = 100
# Points of a lead with odds of ten to one.
SCALE = 400.0


def expected_share(left: float, right: float) -> float:
    return float(1 / (1 + 10 ** ((right - left) / SCALE)))


def after_vote(left: float, right: float, *, left_share: float, k: float = K) -> tuple[float, float]:
    """Return (left, right) after a vote. left_share: 1, 0, or ½ for a tie of either kind."""
    change = k * (left_share - expected_share(left, right))
    return left + change, right - change


def before_vote(left: float, right: float, *, left_share: float, k: float = K) -> tuple[float, float]:
    """Return (left, right) before a vote: the inverse of after_vote."""
    # Fixed-point iteration of gap = gap_after - 2k (left_share - expected_share(gap)). The right side is a contraction
    # with factor 2k ln(10)/1600 < 0.3, so sixteen iterations gain eight decimal digits.
    gap = left - right
    for _ in range(16):
        gap = left - right - 2 * k * (left_share - expected_share(gap, 0))
    change = (left - right - gap) / 2
    return left - change, right + change
