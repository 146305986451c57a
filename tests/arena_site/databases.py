import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.db import connection
from psycopg import sql

from tests import migrated
from tests.services import CREATE_SITE_ROLE
from tests.waiting import wait_for

END_SESSIONS = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s AND usename = current_user
"""


@contextmanager
def database_with_tables() -> Iterator[str]:
    """Create a database with all migrations, yield its URL and drop it."""
    with database_without_tables() as url:
        migrated.fill(url)
        yield url


@contextmanager
def database_without_tables() -> Iterator[str]:
    """Create an empty database, yield its URL and drop it."""
    name = f"elsewhere_{os.getpid()}"
    _drop(name)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    wait_for(lambda: not _has_sessions_of_other_roles(name))  # this role may not terminate them
    _drop(name)


def _drop(name: str) -> None:
    """Drop a database, ending its sessions; FORCE would need the right to end autovacuum, which ends by itself."""
    with connection.cursor() as cursor:
        cursor.execute(END_SESSIONS, [name])
        cursor.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def _has_sessions_of_other_roles(name: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s AND usename <> current_user", [name])
        return cursor.fetchone() is not None


def url_of_site_role(url: str) -> str:
    """Return the URL for signing in as the role that owns nothing; create the role if missing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = 'arena_site'")
        if cursor.fetchone() is None:  # the server was not started by the tests
            cursor.execute(CREATE_SITE_ROLE)
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"arena_site:tests@{host}").geturl()
