import socket
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from arena_site.other_databases import CannotUseDatabase, check_database
from arena_site.version import VERSION
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ENTRY = '- {{id: {0}, name: {0}, provider: Server, model: honest, base_url: "{1}", needs_key: false}}\n'


def prepare(settings, *models: tuple[str, str], container: str = "compose") -> str:
    settings.ARENA_MODELS_FILE.write_text("".join(ENTRY.format(*model) for model in models))
    output = StringIO()
    call_command("prepare", container=container, stdout=output)
    return output.getvalue()


@pytest.fixture(autouse=True)
def models_file(tmp_path: Path, settings) -> None:
    settings.ARENA_MODELS_FILE = tmp_path / "models.yaml"
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = False


def test_private_provider_that_is_never_called_is_named(fake_provider: FakeProvider, settings):
    output = prepare(settings, ("one", fake_provider.base_url))
    assert f"Server ({fake_provider.base_url}) has an address that this arena does not call." in output
    assert "ARENA_ALLOW_PRIVATE_PROVIDERS=true" in output


def test_private_provider_behind_a_name_is_named(fake_provider: FakeProvider, settings, monkeypatch):
    """The URL does not show it; the refused connection does."""
    monkeypatch.setattr("models_registry.models.providers.zone_of_url", lambda url: None)
    output = prepare(settings, ("one", fake_provider.base_url))
    assert f"Server ({fake_provider.base_url}) has an address that this arena does not call." in output


def test_allowed_provider_is_not_warned_of(fake_provider: FakeProvider, settings):
    settings.ARENA_ALLOW_PRIVATE_PROVIDERS = True
    output = prepare(settings, ("one", fake_provider.base_url), ("two", fake_provider.base_url))
    assert "does not call" not in output
    assert "2 models can be drawn for battles." in output


def test_compose_start_without_models_says_what_to_do(settings):
    output = prepare(settings)
    assert "Fewer than two models can be drawn" in output
    assert "add models to the models file" in output


@pytest.mark.parametrize(
    ("container", "python"),
    [
        ("compose", "docker compose exec web python"),
        ("kubernetes", "kubectl exec -it deploy/web -- python"),
        ("one-container", f"docker exec -it {socket.gethostname()} python"),
    ],
)
def test_hint_names_a_command_of_a_container(settings, container: str, python: str):
    assert f"{python} manage.py createsuperuser" in prepare(settings, container=container)


def test_start_with_an_administrator_says_nothing_of_one(settings):
    make.user("admin@example.org", is_staff=True, is_superuser=True)
    assert "createsuperuser" not in prepare(settings)


def test_database_of_newer_version_is_refused(settings):
    MigrationRecorder(connection).record_applied("battles", "9999_unknown_yet")
    MigrationRecorder(connection).record_applied("auth", "0001_squashed_and_gone")  # other packages may drop theirs
    sentence = (
        rf"newer arena than this, version {VERSION}.* 1 migrations unknown here \(battles.9999_unknown_yet\)\. Use"
    )
    with pytest.raises(CommandError, match=sentence):
        prepare(settings)


@pytest.mark.parametrize("file", ["3f/3f00", "releases/2026-11-01-x/votes.csv"])
def test_empty_database_beside_stored_files_is_refused(settings, tmp_path: Path, file: str, monkeypatch):
    settings.MEDIA_ROOT = tmp_path
    (tmp_path / "lost+found").mkdir(mode=0)
    loader = MigrationLoader(connection)
    monkeypatch.setattr(connection.introspection, "table_names", list)
    check_database(loader)
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.touch()
    with pytest.raises(CannotUseDatabase, match="The database is empty, but files of an arena are stored"):
        check_database(loader)


@pytest.mark.parametrize("migration", ["0001_first", "0001_initial"])
def test_database_of_development_version_is_refused(settings, migration: str):
    MigrationRecorder(connection).record_applied("accounts", migration)
    with pytest.raises(CommandError, match=r"before 0\.1\.0 and cannot be migrated: .* start anew"):
        prepare(settings)
