from collections.abc import Iterable, Iterator

from django.db import connection
from psycopg import sql

from common.db.triggers import allow_truncate_sql


def arena_tables() -> list[str]:
    """Return existing tables of the installed apps and many-to-many fields, without django_migrations."""
    return sorted(connection.introspection.django_table_names(only_existing=True, include_views=False))


def columns_of(table: str) -> list[str]:
    """Return the writable columns in order; empty when there is no such table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
            " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
            [table],
        )
        return [name for (name,) in cursor.fetchall()]


def begin_snapshot(tables: list[str]) -> None:
    """Take one snapshot of `tables` in a new transaction, locked against migrations only.

    The first query after the locks takes the snapshot.
    """
    _execute(sql.SQL("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
    _execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(_names(tables)))


def copy_out(table: str, columns: list[str]) -> Iterator[bytes]:
    """Yield the rows in COPY's text format, one line each."""
    copying = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(table), _names(columns))
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(copying) as rows:
        for chunk in rows:
            yield bytes(chunk)


def copy_in(table: str, columns: list[str], chunks: Iterable[bytes]) -> int:
    """Insert the rows; return their number. Raises django.db.Error."""
    copying = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _names(columns))
    with connection.wrap_database_errors, connection.cursor() as cursor:
        with cursor.copy(copying) as rows:
            for chunk in chunks:
                rows.write(chunk)
        return int(cursor.rowcount)


def empty(tables: list[str]) -> None:
    """Truncate tables, also those with triggers that forbid it. Needs a transaction and the tables' owner."""
    _execute(sql.SQL(allow_truncate_sql()))
    _execute(sql.SQL("TRUNCATE {}").format(_names(tables)))


def defer_constraints() -> None:
    """Check foreign keys and constraint triggers at the transaction's end, also those that are checked at once."""
    _execute(sql.SQL("SET CONSTRAINTS ALL DEFERRED"))


def drop_everything() -> None:
    """Drop the schema's tables, with their sequences, and functions, but not those of extensions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('DROP TABLE %I CASCADE', relname) FROM pg_class"
            " WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
            " UNION ALL SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc"
            " WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS"
            " (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')"
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)


def sequences() -> dict[str, int]:
    """Return {name: last value} of the sequences in use."""
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
