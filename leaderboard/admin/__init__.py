from leaderboard.admin import evidence, judging, listed  # noqa: F401 (each registers its pages)
