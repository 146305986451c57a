from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard import live_elo, vote_changes  # noqa: F401 (they connect receivers)
