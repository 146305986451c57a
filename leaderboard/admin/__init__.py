from leaderboard.admin import evidence, judging, listed, releases  # noqa: F401 (each registers its pages)
