from django.core.management.base import CommandError, CommandParser

from accounts.models import Team


def add_team_argument(parser: CommandParser) -> None:
    parser.add_argument("--team", default="", metavar="ADDRESS", help="of this team, by its address in links")


def team_of_argument(slug: str) -> Team | None:
    """Return None without the argument. Raises CommandError."""
    if not slug:
        return None
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise CommandError(f"There is no team {slug}.")
    return team
