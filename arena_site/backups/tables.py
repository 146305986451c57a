"""The arena's tables as PostgreSQL's COPY sees them: what there is, out of the database and into it."""

from collections.abc import Iterable, Iterator

from django.db import connection
from psycopg import sql

from common.db.triggers import allow_truncate_sql


def arena_tables() -> list[str]:
    """Every table of the installed apps that exists, those between two models included; not the list of migrations."""
    return sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))


def columns_of(table: str) -> list[str]:
    """Those that can be written, in their order; empty when there is no such table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
            " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
        return [name for (name,) in cursor.fetchall()]


def see_one_moment(tables: list[str]) -> None:
    """At the start of a transaction: it sees `tables` as they are now and no migration changes them meanwhile.

    Everybody else reads and writes on. The moment is that of the first question after the locks.
    """
    _execute(sql.SQL("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    _execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(_names(tables)))


def copy_out(table: str, columns: list[str]) -> Iterator[bytes]:
    """The rows as the running transaction sees them, in COPY's text format: one line each."""
    copying = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(table), _names(columns))
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(copying) as rows:
        for piece in rows:
            yield bytes(piece)


def copy_in(table: str, columns: list[str], pieces: Iterable[bytes]) -> int:
    """Returns how many rows came. Raises django.db.Error when the database refuses one."""
    copying = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _names(columns))
    with connection.wrap_database_errors, connection.cursor() as cursor:
        with cursor.copy(copying) as rows:
            for piece in pieces:
                rows.write(piece)
        return int(cursor.rowcount)


def empty(tables: list[str]) -> None:
    """TRUNCATE, also what is never emptied otherwise. In a transaction, as the owner of the tables."""
    _execute(sql.SQL(allow_truncate_sql()))
    _execute(sql.SQL("TRUNCATE {}").format(_names(tables)))


def sequences() -> dict[str, int]:
    """{name: the number it gave last}; those that gave none yet are left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sequencename, last_value FROM pg_sequences"
            " WHERE schemaname = current_schema() AND last_value IS NOT NULL"
        )
        return dict(cursor.fetchall())


def set_sequence(name: str, last: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(quote_ident(%s)::regclass, %s)", [name, last])


def _names(names: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _execute(statement: sql.Composable) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
