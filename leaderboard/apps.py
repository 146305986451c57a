from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard.counting import reviews, vote_changes  # noqa: F401 (they connect receivers)
