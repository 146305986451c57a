"""Sequential Elo, the figure that moves with every vote."""

START = 1500.0
K = 32.0


def expected_share(left: float, right: float) -> float:
    """The share of points the left one should take, between 0 and 1."""
    return float(1 / (1 + 10 ** ((right - left) / 400)))


def after_vote(left: float, right: float, *, left_share: float) -> tuple[float, float]:
    """(left, right) after one vote; left_share is 1, 0, or ½ for a tie of either kind."""
    change = K * (left_share - expected_share(left, right))
    return left + change, right - change
