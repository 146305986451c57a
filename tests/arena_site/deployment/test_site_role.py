import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.test import Client

from accounts import audit
from accounts.actions import delete_account
from accounts.models import AuditEntry
from arena_site.retention import purge
from arena_site.site_role import grant_rights
from battles import actions
from battles.models import Vote
from leaderboard.actions import restore_votes, retract_votes
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting import tallies
from models_registry.models import LanguageModel
from tests import make
from tests.arena_site.databases import url_of_site_role
from tests.leaderboard.tally_checks import aggregate

# Switches off all of pgtrigger's triggers by its session variable.
IGNORE_TRIGGERS = (
    "SELECT set_config('pgtrigger.ignore', array_agg(tgname)::text, true) FROM pg_trigger WHERE NOT tgisinternal"
)
REWRITES = [
    "UPDATE accounts_auditentry SET action = 'nothing'",
    "UPDATE accounts_auditentry SET reason = '', details = '{}'",
    "UPDATE accounts_auditentry SET created_at = now()",
    "DELETE FROM accounts_auditentry",
    "TRUNCATE accounts_auditentry",
    "UPDATE battles_vote SET choice = 'right'",
    "UPDATE battles_vote SET model_left_id = model_right_id",
    "DELETE FROM battles_vote",
    "TRUNCATE battles_vote CASCADE",
    "TRUNCATE battles_starrating",
]
CHANGES_OF_TABLES = [
    "ALTER TABLE battles_vote DISABLE TRIGGER ALL",
    "ALTER TABLE accounts_auditentry DISABLE TRIGGER USER",
    "DROP TABLE battles_vote CASCADE",
    "DROP TABLE accounts_auditentry",
    "DROP FUNCTION _pgtrigger_should_ignore CASCADE",
    "CREATE TABLE mine (id int)",
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "SET session_replication_role = replica",
    "DELETE FROM django_migrations",
    "UPDATE leaderboard_standing SET score = 0",
    "DELETE FROM leaderboard_votechange",
    "UPDATE battles_routingdecision SET propensity = 1",
    "UPDATE routing_routersnapshot SET votes = 0",
]


def vote(choice: str = "left") -> Vote:
    actor = make.member()
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice(choice))


@pytest.fixture
def evidence(db) -> None:
    audit.record(make.user(), "ban", "user 1", "Advertising.")
    vote()


@pytest.mark.usefixtures("evidence")
@pytest.mark.parametrize("statement", REWRITES)
def test_triggers_keep_owner_from_rewriting_evidence(statement: str):
    connection.check_constraints()  # TRUNCATE fails while deferred triggers of the test's rows are pending
    with pytest.raises(DatabaseError, match="pgtrigger: Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_audit_entry_cannot_change_its_user(evidence: None):
    other = make.user()
    with pytest.raises(DatabaseError, match="pgtrigger: Cannot update"), transaction.atomic():
        AuditEntry.objects.update(user=other)


def test_deleted_account_leaves_audit_entries_unnamed(evidence: None):
    entry = AuditEntry.objects.get()
    delete_account(entry.user)
    entry.refresh_from_db()
    assert (entry.user, entry.action, entry.reason) == (None, "ban", "Advertising.")


@pytest.fixture
def as_site(transactional_db: None) -> Iterator[psycopg.Connection]:
    """Sign Django's connection in as the site's role; yield another connection with that role."""
    grant_rights()
    settings = connection.settings_dict
    owner = {"USER": settings["USER"], "PASSWORD": settings["PASSWORD"]}
    url = urlsplit(url_of_site_role(os.environ["DATABASE_URL"]))._replace(path=f"/{settings['NAME']}").geturl()
    connection.close()
    settings |= {"USER": "arena_site", "PASSWORD": "tests"}
    try:
        with psycopg.connect(url) as database:
            yield database
    finally:
        connections.close_all()
        settings |= owner


@pytest.mark.slow
def test_site_works_as_role_that_owns_nothing(as_site: psycopg.Connection, client: Client):
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, tableowner FROM pg_tables WHERE tablename = 'battles_vote'")
        assert cursor.fetchone() == ("arena_site", "arena")
    administrator = make.user(is_staff=True, is_superuser=True)
    votes = [vote(choice) for choice in ("left", "right", "tie")]
    LanguageModel.objects.update(status="active")
    actions.give_feedback(battle=votes[0].battle, tags={"left": ["clear"]}, comment="Good.")
    assert aggregate().votes_counted == 3
    chosen = Vote.objects.filter(pk=votes[0].pk)
    assert len(retract_votes(chosen, reason=Vote.ExcludedReason.OPERATOR, by=administrator)) == 1
    assert len(restore_votes(chosen, by=administrator)) == 1
    assert tallies.rebuild() == 0
    delete_account(votes[1].battle.session.owner_user)
    purge()
    assert aggregate().votes_counted == 3
    assert read_board(BoardQuery())["votes_counted"] == 3
    client.force_login(administrator)
    for page in ("/", "/leaderboard/", "/admin/", "/admin/battles/vote/", "/admin/accounts/auditentry/"):
        assert client.get(page).status_code == 200, page
    assert list(Vote.objects.order_by("order").values_list("order", flat=True)) == [1, 2, 3]


def test_site_role_rewrites_no_evidence_with_triggers_off(as_site: psycopg.Connection):
    audit.record(make.user(), "ban", "user 1", "Advertising.")
    vote()
    as_site.execute(IGNORE_TRIGGERS)
    for statement in (*REWRITES, *CHANGES_OF_TABLES):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), as_site.transaction():
            as_site.execute(statement)


def test_site_role_reads_and_writes_every_table(as_site: psycopg.Connection):
    """Also tables created after the rights were granted."""
    unreachable = as_site.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        " AND NOT (has_table_privilege(oid, 'SELECT') AND (relname = 'django_migrations'"
        " OR has_table_privilege(oid, 'INSERT') AND has_any_column_privilege(oid, 'UPDATE')"
        " OR relname = ANY(%s)))",
        [["leaderboard_aggregationrun", "leaderboard_standing", "leaderboard_importedvote", "routing_routersnapshot"]],
    ).fetchall()
    assert unreachable == []


def test_table_of_later_migration_is_writable_at_once(as_site: psycopg.Connection):
    with psycopg.connect(**owner_of_tests()) as owner:
        owner.execute("CREATE TABLE later (id serial PRIMARY KEY, content text)")
        owner.commit()
        try:
            as_site.execute("INSERT INTO later (content) VALUES ('something')")
            assert as_site.execute("SELECT content FROM later").fetchall() == [("something",)]
            as_site.rollback()
        finally:
            owner.execute("DROP TABLE later")


def owner_of_tests() -> dict[str, object]:
    parts = urlsplit(os.environ["DATABASE_URL"])
    return psycopg.conninfo.conninfo_to_dict(parts._replace(path=f"/{connection.settings_dict['NAME']}").geturl())


def test_missing_role_gets_no_rights(db, settings):
    settings.ARENA_SITE_ROLE = "nobody_has_this_name"
    assert grant_rights() is False
