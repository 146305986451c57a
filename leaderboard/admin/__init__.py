from leaderboard.admin import evidence, judging  # noqa: F401 (each registers its pages)
