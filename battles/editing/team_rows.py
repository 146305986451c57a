"""Categories, moderation rules and suggestions of teams. Callers check the right to manage."""

from collections.abc import Sequence

from django.db import models, transaction

from accounts import audit
from accounts.models import Team, User
from battles.errors import CategoryHasVotes, TooManyRowsOfTeam
from battles.models import Category, ModerationRule, PromptSuggestion, Vote

# The most of each kind.
MAX_ROWS = 50
Row = Category | ModerationRule | PromptSuggestion


def rows_of(kind: type[Row], team: Team) -> "models.QuerySet[Row]":
    rows: models.QuerySet[Row] = kind.of_every_owner.filter(team=team)
    return rows


@transaction.atomic
def save_row(*, by: User, row: Row, changed: Sequence[str]) -> None:
    """Store a row of a team whose form is valid. Raises TooManyRowsOfTeam."""
    assert row.team is not None
    is_new = row.pk is None
    if is_new:
        Team.objects.select_for_update(no_key=True).get(pk=row.team.pk)  # two at once must not pass the limit
        if rows_of(type(row), row.team).count() >= MAX_ROWS:
            raise TooManyRowsOfTeam
    row.save()
    audit.record(by, f"{'add' if is_new else 'change'} {_kind(row)}", _subject(row), changed=sorted(changed))


@transaction.atomic
def remove_row(*, by: User, row: Row) -> None:
    """Raises CategoryHasVotes."""
    if isinstance(row, Category) and _has_votes(row):
        raise CategoryHasVotes
    audit.record(by, f"remove {_kind(row)}", _subject(row))
    row.delete()


def _has_votes(category: Category) -> bool:
    return Vote.objects.filter(team=category.team_id, team_categories__contains=[category.slug]).exists()


def _kind(row: Row) -> str:
    return {Category: "category", ModerationRule: "moderation rule", PromptSuggestion: "suggestion"}[type(row)]


def _subject(row: Row) -> str:
    return f"team {row.team.slug if row.team else ''}: {row}"
