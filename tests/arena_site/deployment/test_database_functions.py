import hashlib
import json
import re
from pathlib import Path

import pytest
from django.db import connection

import battles.sql
import leaderboard.sql
from leaderboard.rating import elo

FUNCTIONS = "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE proname = ANY(%s)"
TRIGGERS = "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = ANY(%s)"
# {app: {file that a migration runs: SHA-256 of its SQL, with its constants}}
MIGRATED_SQL = json.loads(Path(__file__).with_name("migrated_sql.json").read_text())
# The apps' own functions; pgtrigger names its own differently.
OWN_FUNCTIONS = (
    r"SELECT proname FROM pg_proc WHERE proname ~ '^(battles|leaderboard|uploads|accounts|models_registry)_'"
)


def query(sql: str, *parameters: object) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return cursor.fetchall()


APPS = pytest.mark.parametrize("app", [battles.sql, leaderboard.sql], ids=lambda app: app.__name__)


@APPS
def test_migrated_sql_never_changes(app):
    """An edited file would change a migration that databases have applied: write a new file."""
    digests = MIGRATED_SQL[app.__name__]
    assert digests == {file: hashlib.sha256(app.read_sql(file).encode()).hexdigest() for file in digests}
    assert {*app.FUNCTIONS.values(), *getattr(app, "TRIGGERS", {}).values()} <= digests.keys()


@pytest.mark.django_db
@APPS
def test_migrated_definitions_equal_newest_files(app):
    triggers = getattr(app, "TRIGGERS", {})

    def definitions() -> dict[str, str]:
        # PostgreSQL writes the casts of a condition otherwise once it has read its own text, as in a copied database.
        for name, text in query(TRIGGERS, [*triggers]):
            table = re.search(r" ON (public\.\w+)", text)
            assert table
            with connection.cursor() as cursor:
                cursor.execute(f"DROP TRIGGER {name} ON {table[1]}; {text}")
        return dict(query(FUNCTIONS, [*app.FUNCTIONS]) + query(TRIGGERS, [*triggers]))

    migrated = definitions()
    assert migrated.keys() == app.FUNCTIONS.keys() | triggers.keys()
    for file in {*app.FUNCTIONS.values(), *triggers.values()}:
        with connection.cursor() as cursor:
            cursor.execute(app.read_sql(file))
    assert definitions() == migrated


@pytest.mark.django_db
def test_every_own_function_has_a_sql_file():
    assert {name for (name,) in query(OWN_FUNCTIONS)} == battles.sql.FUNCTIONS.keys() | leaderboard.sql.FUNCTIONS.keys()


def test_elo_sql_takes_its_constants_from_python():
    assert (elo.K, elo.START, elo.SCALE) == (32, 1500, 400)
    sql = leaderboard.sql.read_sql("elo_2.sql")
    assert [f"AS chosen), {value:g})" in sql for value in (elo.START, elo.K)] == [True, True]
    assert "mine.rating) / 400)" in sql
