"""The database role that web processes and workers run as, where it is not the owner of the tables."""

from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from psycopg import sql

from battles.models import Vote
from battles.models.votes import VOTE_FACTS

RIGHTS = Path(__file__).with_suffix(".sql")


@transaction.atomic
def grant_rights() -> bool:
    """Give ARENA_SITE_ROLE its rights, as the tables' owner; False where there is no such role beside the owner."""
    role = settings.ARENA_SITE_ROLE
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s AND rolname <> current_user", [role])
        if cursor.fetchone() is None:
            return False
        rights = sql.SQL(RIGHTS.read_text()).format(
            role=sql.Identifier(role), changing_columns_of_votes=sql.SQL(", ").join(map(sql.Identifier, _changing()))
        )
        cursor.execute(rights)
    return True


def _changing() -> list[str]:
    """The columns of votes that are no facts. The number is given by a trigger, in the rights of whoever votes."""
    return [
        field.column for field in Vote._meta.concrete_fields if field.column and field.name not in ("id", *VOTE_FACTS)
    ]
