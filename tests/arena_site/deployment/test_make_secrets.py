from pathlib import Path

import pytest

from tests.worlds.compose_file import make_secrets

pytestmark = pytest.mark.processes


def test_secrets_file_is_readable_by_its_owner_only(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("ARENA_DOMAIN=localhost")
    file.chmod(0o644)
    assert make_secrets(file).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().startswith("ARENA_DOMAIN=localhost\nSECRET_KEY=")


def test_secrets_made_twice_stay_as_they_are(tmp_path: Path):
    file = tmp_path / ".env"
    file.touch()
    make_secrets(file)
    once = file.read_text()
    again = make_secrets(file)
    assert (again.returncode, again.stdout, file.read_text()) == (1, "", once)
    assert "SECRET_KEY is set already" in again.stderr


def test_missing_secret_is_added_to_the_others(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("# SECRET_KEY=example\nSECRET_KEY=mine\nexport POSTGRES_PASSWORD=mine\nVALKEY_PASSWORD=\n")
    assert make_secrets(file).returncode == 0
    lines = file.read_text().splitlines()
    names = [line.partition("=")[0] for line in lines[4:]]
    assert names == ["ARENA_ENCRYPTION_KEYS", "POSTGRES_SITE_PASSWORD", "VALKEY_PASSWORD"]


def test_monitoring_gets_a_token_for_metrics(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("COMPOSE_PROFILES=ollama,monitoring\n")
    assert make_secrets(file).returncode == 0
    name, token = file.read_text().splitlines()[-1].split("=", 1)
    assert (name, len(token)) == ("ARENA_METRICS_TOKEN", 32)


def test_secrets_without_a_settings_file_are_refused(tmp_path: Path):
    refused = make_secrets(tmp_path / ".env")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "cp .env.example .env" in refused.stderr
