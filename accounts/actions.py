"""What members do with their keys to the API."""

from datetime import datetime

from django.db import transaction

from accounts.errors import TooManyTokens
from accounts.models import ApiToken, Scope, User

MOST_TOKENS = 50


@transaction.atomic
def issue_token(
    *, user: User, name: str, scopes: list[Scope], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new row and the token itself, which nobody can read again. Raises TooManyTokens."""
    User.objects.select_for_update().get(pk=user.pk)  # two requests at once must not both be the last
    if ApiToken.objects.held_by(user).count() >= MOST_TOKENS:
        raise TooManyTokens
    return ApiToken.issue(user=user, name=name, scopes=scopes, expires_at=expires_at)
