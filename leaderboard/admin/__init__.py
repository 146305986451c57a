from leaderboard.admin import evidence, judging, releases  # noqa: F401 (each registers its pages)
