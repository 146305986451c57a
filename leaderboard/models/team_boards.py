from django.db import models

from accounts.models import Team


class TeamBoard(models.Model):
    """A board that a team's owners switched on; its Overall is always on."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="boards")
    # Key without the team's prefix (leaderboard.counting.board_keys).
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="a_teams_board_is_switched_on_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.team}"
