from leaderboard.admin import evidence, judging, listed, live_elo, releases  # noqa: F401 (each registers its pages)
