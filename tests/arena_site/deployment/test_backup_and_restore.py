import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from cryptography.fernet import Fernet
from django.conf import settings as site_settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from psycopg import sql

from accounts.models import AuditEntry
from arena_site.backups.archive import MANIFEST, TABLES
from arena_site.version import VERSION, commit
from battles.models import Vote
from leaderboard.aggregation import job
from leaderboard.boards.queries import BoardQuery, read_board
from models_registry.models import Provider
from tests import make
from tests.arena_site.databases import database_without_tables, url_of_site_role
from tests.leaderboard.vote_factory import cast, cast_many, contestants

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

KEY = "sk-a-key-that-must-come-back-0001"


@pytest.fixture(autouse=True)
def _media_root(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "uploads"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """Backup of an arena with a conversation, a board, a provider's key and an upload."""
    first, second, third = contestants("a", "b", "c")
    make.answered_battle(first, second, actor=make.member())
    cast_many(first, second, left=5, tie=1)
    cast_many(second, third, left=3, right=3)
    cast(first, third, "left", excluded="operator")
    job.aggregate(slot="before")
    provider = Provider.objects.get()
    provider.store_key(KEY)
    provider.save()
    default_storage.save("kept/paper é.pdf", ContentFile(bytes(range(256)) * 9000))
    file = tmp_path / "arena.zip"
    call_command("backup", str(file))
    return file


def boards() -> list[dict[str, Any]]:
    return [read_board(BoardQuery(board=board)) for board in ("overall", "language:und")]


def empty_this_arena() -> None:
    call_command("flush", interactive=False, verbosity=0)
    default_storage.delete("kept/paper é.pdf")


def manifest_of(file: Path):
    with zipfile.ZipFile(file) as archive:
        return msgspec.json.decode(archive.read(MANIFEST))


def rows_of(file: Path) -> dict[str, list[bytes]]:
    with zipfile.ZipFile(file) as archive:
        tables = [name for name in archive.namelist() if name.startswith(TABLES)]
        return {name: sorted(archive.read(name).splitlines()) for name in tables}


RUN_COMMANDS = """
import json, sys, django
django.setup()
from django.core.management import call_command
for command in json.loads(sys.argv[1]):
    call_command(*command)
"""


def manage(database: str, data_dir: Path, *commands: tuple[str, ...], given: bytes = b"") -> bytes:
    """Run the commands in one process on another database and return their output."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN_COMMANDS, json.dumps(commands)],
        cwd=site_settings.BASE_DIR,
        env=os.environ
        | {
            "DATABASE_URL": database,
            "ARENA_DATA_DIR": str(data_dir),
            "DJANGO_SETTINGS_MODULE": "arena_site.settings.test",
        },
        input=given, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_restore_brings_back_boards_uploads_and_keys(backup: Path, client):
    before = boards()
    assert AuditEntry.objects.get(action="backup").details["uploads"] == 1
    empty_this_arena()
    assert read_board(BoardQuery())["results"] == []
    make.user(is_superuser=True)  # as a start with ARENA_ADMIN_EMAIL makes one
    make.model("from-the-models-file")

    call_command("restore", str(backup))
    assert boards() == before
    assert len(before[0]["results"]) == 3
    assert default_storage.open("kept/paper é.pdf").read() == bytes(range(256)) * 9000
    assert Provider.objects.get().read_key() == KEY
    assert AuditEntry.objects.filter(action="restore", subject="arena.zip").count() == 1


def test_restored_arena_counts_new_votes(backup: Path):
    empty_this_arena()
    call_command("restore", str(backup))
    last = Vote.objects.latest("order").order
    first, second = contestants("d", "e")
    assert cast(first, second, "left").order == last + 1
    job.aggregate(slot="after")
    assert read_board(BoardQuery())["votes_counted"] == 13


def test_empty_database_of_another_owner_is_restored(backup: Path, tmp_path: Path):
    with database_without_tables() as database:
        with psycopg.connect(database) as connection:
            for right in ("CREATE ON DATABASE {}", "ALL ON SCHEMA public"):
                statement = sql.SQL("GRANT " + right + " TO arena_site")
                connection.execute(statement.format(sql.Identifier(connection.info.dbname)))
        elsewhere = url_of_site_role(database)
        other, again = tmp_path / "other", tmp_path / "again.zip"
        manage(elsewhere, other, ("restore", "-"), given=backup.read_bytes())
        again.write_bytes(manage(elsewhere, other, ("backup", "-")))
        with psycopg.connect(database) as connection:
            owners = connection.execute("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'")
            assert owners.fetchall() == [("arena_site",)]
    before, after = rows_of(backup), rows_of(again)
    assert len(after.pop(f"{TABLES}accounts_auditentry")) == len(before.pop(f"{TABLES}accounts_auditentry")) + 1
    assert after == before
    assert [file.name for file in (other / "uploads").rglob("*") if file.is_file()] == ["paper é.pdf"]


def test_backup_of_older_version_is_migrated(tmp_path: Path):
    old = tmp_path / "old.zip"
    with database_without_tables() as elsewhere:
        migrations = [("migrate", "leaderboard", "0001"), ("migrate", "accounts")]
        manage(elsewhere, tmp_path / "older", *migrations, ("backup", str(old)))
    with database_without_tables() as elsewhere:
        manage(elsewhere, tmp_path / "none", ("restore", str(old)), ("migrate", "--check"))
        with psycopg.connect(elsewhere) as database:
            functions = database.execute("SELECT count(*) FROM pg_proc WHERE proname = 'leaderboard_move_elo'")
            assert functions.fetchone() == (1,)


def test_restore_into_used_arena_is_refused(backup: Path):
    with pytest.raises(CommandError, match="in use: it has people, conversations, provider keys, uploads"):
        call_command("restore", str(backup))
    assert boards()[0]["votes_counted"] == 12


def test_unreadable_keys_stop_restore_unless_given_up(backup: Path, settings):
    empty_this_arena()
    settings.ARENA_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(CommandError, match="does not decrypt the keys of 1 providers"):
        call_command("restore", str(backup))
    assert not Vote.objects.exists()
    assert not default_storage.exists("kept/paper é.pdf")

    call_command("restore", str(backup), forget_unreadable_keys=True)
    assert (Provider.objects.get().has_key, Vote.objects.count()) == (False, 13)


def test_backup_contains_no_secrets(backup: Path, settings):
    with zipfile.ZipFile(backup) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    for secret in (KEY, settings.SECRET_KEY, *settings.ARENA_ENCRYPTION_KEYS):
        assert secret.encode() not in everything
    assert backup.stat().st_mode & 0o777 == 0o600


def with_member(backup: Path, name: str, content: bytes) -> None:
    """Replace one member of the backup."""
    with zipfile.ZipFile(backup) as archive:
        members = {each: archive.read(each) for each in archive.namelist()} | {name: content}
    with zipfile.ZipFile(backup, "w") as archive:
        for each, text in members.items():
            archive.writestr(each, text)


def cut(backup: Path) -> None:
    backup.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])


def lose_rows(backup: Path) -> None:
    with_member(backup, f"{TABLES}battles_vote", b"")


def point_nowhere(backup: Path) -> None:
    tables = manifest_of(backup)["tables"]
    tables["battles_battle"]["rows"] = 0
    with_manifest(backup, tables=tables)
    with_member(backup, f"{TABLES}battles_battle", b"")


def with_manifest(backup: Path, **changes: object) -> None:
    with_member(backup, MANIFEST, msgspec.json.encode(manifest_of(backup) | changes))


def come_from_the_future(backup: Path) -> None:
    migrations = [*manifest_of(backup)["migrations"], ["battles", "9999_unknown_yet"]]
    with_manifest(backup, migrations=migrations, version="9.1.0", commit="f" * 40)


def come_from_a_newer_format(backup: Path) -> None:
    with_manifest(backup, format=2, version="9.1.0", commit="", tables="elsewhere")


def lose_manifest(backup: Path) -> None:
    with zipfile.ZipFile(backup) as archive:
        members = {each: archive.read(each) for each in archive.namelist() if each != MANIFEST}
    with zipfile.ZipFile(backup, "w") as archive:
        for each, text in members.items():
            archive.writestr(each, text)


def flip_a_bit(backup: Path) -> None:
    content = bytearray(backup.read_bytes())
    content[len(content) // 2] ^= 1
    backup.write_bytes(content)


def lose_upload(backup: Path) -> None:
    with_manifest(backup, uploads=2)


def climb_out(backup: Path) -> None:
    with_manifest(backup, uploads=2)
    with_member(backup, "uploads/../../outside", b"x")


def come_from_the_first_development_versions(backup: Path) -> None:
    with_manifest(backup, migrations=[["accounts", "0001_first"], ["battles", "0024_plain_help_texts"]])


def come_from_the_last_development_version(backup: Path) -> None:
    with_manifest(backup, migrations=[["accounts", "0001_initial"], ["battles", "0011_answer_states"]])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (cut, "no backup, or it is damaged"),
        (lose_rows, "battles_vote has 0 rows and should have 13"),
        (point_nowhere, "The backup is damaged"),
        (come_from_the_future, r"made by version 9.1.0, commit ffffffffffff, .* \(battles.9999_unknown_yet\)"),
        (come_from_a_newer_format, f"made by a newer arena, version 9.1.0, and this is version {VERSION}"),
        (lose_manifest, "arena.zip is no backup of an arena: it has no manifest.json"),
        (lambda backup: backup.write_text("text"), "no backup, or it is damaged: File is not a zip file"),
        (flip_a_bit, "is damaged"),
        (lose_upload, "it has 1 uploads and should have 2"),
        (climb_out, "no backup, or it is damaged"),
        (come_from_the_first_development_versions, "development version before 0.1.0 .* restore it with that version"),
        (come_from_the_last_development_version, "development version before 0.1.0 .* restore it with that version"),
    ],
)
def test_damaged_backup_changes_nothing(backup: Path, spoil, sentence: str):
    empty_this_arena()
    spoil(backup)
    with pytest.raises(CommandError, match=sentence) as refused:
        call_command("restore", str(backup))
    assert "\n" not in str(refused.value)
    assert not Vote.objects.exists()


def test_failed_restore_leaves_a_database_without_tables(backup: Path, tmp_path: Path):
    lose_rows(backup)
    with database_without_tables() as elsewhere:
        with pytest.raises(AssertionError, match="CommandError: The backup is damaged: battles_vote has 0 rows"):
            manage(elsewhere, tmp_path / "other", ("restore", str(backup)))
        with psycopg.connect(elsewhere) as database:
            query = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace UNION ALL "
            query += "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            assert database.execute(query).fetchall() == []


def test_older_backup_into_prepared_database_says_what_to_do(backup: Path):
    empty_this_arena()
    with_manifest(backup, migrations=manifest_of(backup)["migrations"][:-1], version="0.0.9", commit="")
    sentence = rf"made by version 0.0.9, and this database was prepared .* this is version {VERSION}.*make restore FILE"
    with pytest.raises(CommandError, match=sentence):
        call_command("restore", str(backup))


def test_role_without_tables_of_its_own_is_named(backup: Path, tmp_path: Path):
    sentence = "CommandError: This database's role may not make or empty tables"
    with database_without_tables() as database, pytest.raises(AssertionError, match=sentence):
        manage(url_of_site_role(database), tmp_path / "other", ("restore", str(backup)))


def test_manifest_names_version_and_commit(backup: Path):
    assert manifest_of(backup)["version"] == VERSION
    assert manifest_of(backup)["commit"] == commit()


def test_backup_overwrites_no_file_and_leaves_no_part(tmp_path: Path):
    file = tmp_path / "arena.zip"
    file.write_text("last week's")
    with pytest.raises(CommandError, match="overwrites nothing"):
        call_command("backup", str(file))
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("backup", str(tmp_path / "no such folder" / "arena.zip"))
    assert [file.name for file in tmp_path.iterdir()] == ["arena.zip"]
