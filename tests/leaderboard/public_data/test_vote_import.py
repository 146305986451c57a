import json
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction

from accounts.models import AuditEntry
from leaderboard.counting import method
from leaderboard.exports.readers import read_rows
from leaderboard.imports import store
from leaderboard.imports.columns import NeedsRows, TableColumns
from leaderboard.models import AggregationRun, Contestant, ImportedBoard, ImportedVote
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.public_data.exports import export, publish
from tests.leaderboard.public_data.imports import import_votes
from tests.worlds.ratings import reference_votes
from tests.worlds.vote_tables import COUNTS, SINGLE, table

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_table(tmp_path) -> Path:
    """Table of votes in which Ada beats Bob and Bob beats Cy."""
    lines = [("Ada", "Bob", "model_a")] * 30 + [("Bob", "Ada", "model_a")] * 10
    lines += [("Bob", "Cy", "model_a")] * 30 + [("Cy", "Bob", "model_a")] * 10 + [("Cy", "Ada", "tie")] * 5
    return table(tmp_path / "small.csv", SINGLE, *lines)


def test_import_creates_separate_board(small_table, client):
    run = import_votes(
        small_table, "--title", "A small table", "--source", "https://example.org", "--licence", "CC0-1.0"
    )
    board = ImportedBoard.objects.get()
    assert (board.scope, board.title, board.licence) == ("imported:small", "A small table", "CC0-1.0")
    assert (run.scope, run.votes_counted) == ("imported:small", 85)
    payload = client.get("/api/v1/leaderboard/?board=imported:small").json()
    assert [(line["model"]["name"], line["rank"], line["votes"]) for line in payload["results"]] == [
        ("Ada", 1, 45), ("Bob", 2, 80), ("Cy", 3, 45),
    ]  # fmt: skip
    assert "imported:small" in [board["board"] for board in client.get("/api/v1/boards/").json()["results"]]
    assert not LanguageModel.objects.exists()
    assert not AggregationRun.objects.snapshots("overall").exists()
    assert AuditEntry.objects.get().action == "votes.import"


def test_imported_board_page_and_admin_are_readable(small_table, client, admin_client):
    import_votes(small_table, "--title", "A small table")
    page = client.get("/leaderboard/?board=imported:small")
    assert page.status_code == 200
    assert all(words in page.content.decode() for words in ("A small table", "Ada", "Bob", "Cy", "have no pages here"))
    for section in ("importedboard", "standing"):
        assert admin_client.get(f"/admin/leaderboard/{section}/").status_code == 200


def test_changed_method_refits_imported_board(small_table, monkeypatch):
    import_votes(small_table)
    publish()
    assert AggregationRun.objects.snapshots("imported:small").count() == 1
    monkeypatch.setattr(method, "ESTABLISHED_FROM_VOTES", 1000)
    publish()
    publish()
    newest, first = AggregationRun.objects.snapshots("imported:small")
    assert [run.standings.filter(preliminary=True).count() for run in (newest, first)] == [3, 0]


def test_second_import_needs_replace(small_table, tmp_path):
    first = import_votes(small_table)
    with pytest.raises(CommandError, match="This board already exists"):
        import_votes(small_table)
    table(small_table, SINGLE, *[("Ada", "Dee", "tie")] * 6)
    second = import_votes(small_table, "--replace")
    assert (first.votes_counted, second.votes_counted) == (85, 6)
    assert [len(list(read_rows(export(tmp_path, "--snapshot", run.public_id)))) for run in (first, second)] == [85, 6]
    assert not second.standings.filter(contestant__name="Bob").exists()


def test_table_with_bad_lines_imports_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "BATCH", 2)
    path = table(tmp_path / "votes.csv", SINGLE, *[("Ada", "Bob", "tie")] * 5, ("Ada", "Bob", "?"), ("Ada", "", "tie"))
    with pytest.raises(CommandError) as refusal:
        import_votes(path)
    message = str(refusal.value).splitlines()
    assert [line.partition(": ")[0] for line in message[:2]] == [f"{path}:7", f"{path}:8"]
    assert message[-1] == "Nothing was imported."
    assert [model.objects.count() for model in (ImportedBoard, Contestant, ImportedVote, AggregationRun)] == [0] * 4


def test_columns_and_rows_store_the_same_votes(tmp_path, monkeypatch):
    path = table(
        tmp_path / "votes.csv",
        (*SINGLE, "judge", "tstamp", "category", "tokens_a", "lists_b"),
        ("Ada\\", "Bob", "tie", "w\\1", "1723593600.5", "a\\", 3, ""),
        ("Bob", "Cy, too", "model_a", "", "2024-08-14T02:00+02:00", "", "", 0),
        ("Cy, too", "Bob", "both_bad", "w", "", "maths", "", ""),
    )
    fields = ("order", "left__name", "right__name", "outcome", "n", "voter", "created_at", "category", "style")
    stored = ImportedVote.objects.order_by("edition", "order").values_list(*fields)
    import_votes(path)
    by_columns = list(stored)
    monkeypatch.setattr(TableColumns, "batches", Mock(side_effect=NeedsRows))
    import_votes(path, "--replace")
    assert by_columns == list(stored.all())[3:]
    assert len(by_columns) == 3


def test_mapping_links_names_to_registry_models(small_table, tmp_path, client):
    make.model(slug="ada-2", name="Ada 2", organization="Babbage")
    mapping = tmp_path / "names.yaml"
    mapping.write_text("Ada: ada-2\nNobody: ada-2\n")
    call_command(
        "import_votes", str(small_table), "--as-models", str(mapping), stderr=(tmp_path / "progress").open("a")
    )
    first = client.get("/api/v1/leaderboard/?board=imported:small").json()["results"][0]["model"]
    assert (first["name"], first["organization"]) == ("Ada", "Babbage")
    mapping.write_text("Ada: unheard-of\n")
    with pytest.raises(CommandError, match="the registry has no “unheard-of”"):
        call_command("import_votes", str(small_table), "--as-models", str(mapping), "--replace")


def test_formula_like_names_are_quoted_and_restored(tmp_path):
    names = ("=1+1", "'=1+1", "＋x", "plain")
    lines = [(left, right, "model_a") for left in names for right in names if left != right]
    run = import_votes(table(tmp_path / "evil.csv", SINGLE, *lines))
    file = export(tmp_path, "--snapshot", run.public_id, ending="csv")
    cells = [cell for line in file.read_text().splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.lstrip().startswith(("=", "+", "-", "@", "＋"))]
    assert {row.model_left for row in read_rows(file)} == set(names)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_imported_board_is_recomputed_from_export(small_table, tmp_path, ending, client, capsys):
    run = import_votes(small_table)
    standings = tmp_path / "snapshot.json"
    standings.write_text(json.dumps(client.get(f"/api/v1/leaderboard/snapshots/{run.public_id}/").json()))
    file = export(tmp_path, "--snapshot", run.public_id, ending=ending)
    call_command("recompute_snapshot", "--standings", str(standings), "--export", str(file))
    call_command("recompute_snapshot", run.public_id)
    assert capsys.readouterr().out.count("agrees: imported:small, 85 votes, 3 models") == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmfao_crowd", "mtbench_human", "football_intl", "copilot_arena_examples"])
def test_public_table_is_imported_and_recomputed(name, capsys):
    path = reference_votes.table_path(name)
    call_command("import_votes", str(path), "--as-models", "--slug", name, stderr=StringIO())
    run = AggregationRun.objects.get()
    assert run.votes_counted == reference_votes.reference(name)["votes"]
    call_command("recompute_snapshot", run.public_id)
    assert "agrees" in capsys.readouterr().out


def test_chatbot_arena_table_becomes_established_board():
    """Every model is established, so the board is plain maximum likelihood around 1500."""
    expected = reference_votes.reference("arena_20240814_paircounts")
    run = import_votes(reference_votes.CHATBOT_ARENA)
    assert (run.votes_counted, run.standings.count()) == (1_670_250, 129)
    scores = dict(run.standings.values_list("contestant__name", "score"))
    published = [scores[name] - 500 for name in expected["models"]]
    assert np.abs(np.subtract(published, expected["ours"]["ratings"])).max() < 1e-6
    assert set(run.standings.values_list("elo", flat=True)) == {None}


def test_imported_votes_are_immutable(small_table):
    import_votes(small_table)
    for change in (lambda: ImportedVote.objects.update(n=2), lambda: ImportedVote.objects.all().delete()):
        with pytest.raises(ProgrammingError, match="Cannot"), transaction.atomic():
            change()
    assert connection.is_usable()


def test_import_without_valid_slug_is_refused(tmp_path):
    path = table(tmp_path / "!!.csv", COUNTS, ("Ada", "Bob", 1, 1, 0, 0))
    with pytest.raises(CommandError, match="say --slug"):
        import_votes(path)
    assert import_votes(path, "--slug", "odd").scope == "imported:odd"
