from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import ApiToken, Scope, Team, TeamMember, User
from accounts.teams.roles import Right, has_right


class Command(BaseCommand):
    help = "Create an API token for a member. The token is printed once, alone on standard output."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email", help="the member's e-mail address")
        parser.add_argument("--name", default="command line", help="what the token is for")
        parser.add_argument("--scopes", default="read,battle,vote", help=f"of {', '.join(Scope.values)}")
        parser.add_argument("--team", metavar="ADDRESS", help="address of a team in which it acts (default: personal)")
        parser.add_argument("--expires", type=int, metavar="DAYS", help="days until it expires (default: never)")

    def handle(
        self,
        *args: object,
        email: str,
        name: str,
        scopes: str,
        expires: int | None,
        team: str | None,
        **options: object,
    ) -> None:
        user = User.objects.filter(email__iexact=email, is_active=True).first()
        if user is None:
            raise CommandError(f"No active member has the e-mail address {email}.")
        if expires is not None and not 1 <= expires <= 36_500:
            raise CommandError("--expires is a number of days between 1 and 36500.")
        row, token = ApiToken.issue(
            user=user,
            name=name[:100],
            scopes=_parse_scopes(scopes),
            team=None if team is None else _team_of(user, team),
            expires_at=None if expires is None else timezone.now() + timedelta(days=expires),
        )
        self.stderr.write(f"{row.name} for {user}: {', '.join(row.scopes)}. It will not be shown again.")
        self.stdout.write(token)


def _team_of(user: User, slug: str) -> Team:
    member = TeamMember.objects.active().filter(user=user, team__slug=slug).select_related("team").first()
    if member is None or not has_right(member.role, Right.USE):
        raise CommandError(f"{user} cannot use a team with the address {slug}.")
    return member.team


def _parse_scopes(option: str) -> list[Scope]:
    words = dict.fromkeys(word.strip() for word in option.split(",") if word.strip())
    unknown = [word for word in words if word not in Scope.values]
    if unknown or not words:
        raise CommandError(f"Scopes are {', '.join(Scope.values)}; not {', '.join(unknown) or 'none'}.")
    return [Scope(word) for word in words]
