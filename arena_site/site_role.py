"""Rights of the database role of web processes and workers, where it does not own the tables."""

from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Model
from psycopg import sql

from battles.models import RoutingDecision, Vote
from battles.models.routing import DECISION_FACTS
from battles.models.votes import VOTE_FACTS

GRANTS = Path(__file__).with_suffix(".sql")


@transaction.atomic
def grant_rights() -> bool:
    """Grant ARENA_SITE_ROLE its rights, as the tables' owner; False where no other such role exists."""
    role = settings.ARENA_SITE_ROLE
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s AND rolname <> current_user", [role])
        if cursor.fetchone() is None:
            return False
        grants = sql.SQL(GRANTS.read_text()).format(
            role=sql.Identifier(role),
            mutable_vote_columns=_mutable_columns(Vote, VOTE_FACTS),
            mutable_decision_columns=_mutable_columns(RoutingDecision, DECISION_FACTS),
        )
        cursor.execute(grants)
    return True


def _mutable_columns(model: type[Model], facts: list[str]) -> sql.Composable:
    """Return the columns that are no facts; of votes with the number: its trigger has the site role's rights."""
    fields = model._meta.concrete_fields
    columns = [field.column for field in fields if field.column and field.name not in ("id", *facts)]
    return sql.SQL(", ").join(map(sql.Identifier, columns))
