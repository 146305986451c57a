"""Sequential Elo, the figure that moves with every vote; leaderboard/sql/elo.sql computes the same."""

START = 1500.0
K = 32.0
# A lead of so many points makes the odds ten to one.
SCALE = 400.0


def expected_share(left: float, right: float) -> float:
    """The share of points the left one should take, between 0 and 1."""
    return float(1 / (1 + 10 ** ((right - left) / SCALE)))


def after_vote(left: float, right: float, *, left_share: float) -> tuple[float, float]:
    """(left, right) after one vote; left_share is 1, 0, or ½ for a tie of either kind."""
    change = K * (left_share - expected_share(left, right))
    return left + change, right - change


def before_vote(left: float, right: float, *, left_share: float) -> tuple[float, float]:
    """What `after_vote` made these two of.

    The gap before solves gap = gap_after - 2K (left_share - expected_share(gap)), whose right side moves by at most
    2K ln(10)/1600 < 0.1 of what gap does: each round is ten times closer.
    """
    gap = left - right
    for _ in range(16):
        gap = left - right - 2 * K * (left_share - expected_share(gap, 0))
    change = (left - right - gap) / 2
    return left - change, right + change
