"""Delete rows stored by a test with transactions of its own.

Django truncates every table and recreates content types and permissions, which takes longer than most of these tests.
Its connection stays open: a new one reads the catalogue anew.
"""

from functools import cache

import psycopg
from django.db import connection
from django.test import TransactionTestCase

# Larger tables are truncated, because their dead rows would slow down the following tests.
MAX_BYTES = 1_000_000
_truncate_all = TransactionTestCase._fixture_teardown
# Digests of tables with rows created by migrations.
_migrated: dict[str, str] = {}


def remember() -> None:
    """Record the current rows as those created by migrations."""
    _migrated.clear()
    with _kept_connection().cursor() as cursor:
        cursor.execute(" UNION ALL ".join(_digest_sql(table) for table in _tables()))
        _migrated.update(cursor.fetchall())


def reset(case: TransactionTestCase) -> None:
    """Replacement for TransactionTestCase._fixture_teardown."""
    connection.close()  # locks of a transaction that the test left open would keep the rows from being deleted
    if not _delete_rows():
        _truncate_all(case)
        remember()


def close() -> None:
    """Close the connection: a database in use cannot be dropped."""
    _kept_connection().close()
    _kept_connection.cache_clear()


@cache
def _kept_connection() -> "psycopg.Connection[tuple[str, str | int]]":
    params = connection.get_connection_params()
    return psycopg.connect(
        **{name: params[name] for name in ("dbname", "user", "password", "host", "port") if name in params},
        autocommit=True,
    )


def _delete_rows() -> bool:
    """Delete all other rows; return False, with nothing deleted, where truncating is needed."""
    try:
        with _kept_connection().transaction(), _kept_connection().cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            # Waits for open transactions of the test's threads.
            cursor.execute(f"LOCK TABLE {', '.join(map(_quoted, _tables()))} IN EXCLUSIVE MODE")
            cursor.execute(" UNION ALL ".join(_digest_sql(table) for table in _migrated), prepare=True)
            if dict(cursor.fetchall()) != _migrated:
                return False
            others = (table for table in _tables() if table not in _migrated)
            cursor.execute(" UNION ALL ".join(map(_size_sql, others)), prepare=True)
            sizes = dict(cursor.fetchall())
            if max(sizes.values(), default=0) > MAX_BYTES:
                return False
            for table in sizes:
                cursor.execute(f"DELETE FROM {_quoted(table)}")
    except psycopg.ProgrammingError:  # a server not started by the tests may not allow replica mode
        return False
    return True


@cache
def _tables() -> list[str]:
    return connection.introspection.django_table_names(only_existing=True, include_views=False)


def _quoted(table: str) -> str:
    return connection.ops.quote_name(table)


def _digest_sql(table: str) -> str:
    rows = "md5(string_agg(entry::text, ' ' ORDER BY entry::text))"
    return f"SELECT '{table}', {rows} FROM {_quoted(table)} entry HAVING count(*) > 0"


def _size_sql(table: str) -> str:
    return f"SELECT '{table}', pg_relation_size('{table}') WHERE EXISTS (SELECT FROM {_quoted(table)})"
