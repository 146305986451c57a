import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.actions.deletion import delete_run
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.run_export import RunExport
from common.tables.writers import as_jsonl
from leaderboard.exports import selection
from leaderboard.exports.columns import VOTES
from leaderboard.models import AggregationRun
from reviews.models import DecisionReport
from reviews.reports import actions
from tests.reviews.reports.reporting import file_of, page_of
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def recompute(tmp_path: Path, content: bytes, **files: tuple[str, bytes]) -> str:
    out, paths = StringIO(), {}
    (tmp_path / "report.json").write_bytes(content)
    for name, (ending, of_file) in files.items():
        paths[name] = tmp_path / f"{name}.{ending}"
        paths[name].write_bytes(of_file)
    call_command("recompute_report", tmp_path / "report.json", stdout=out, **paths)
    return out.getvalue()


def files_of_board(browser: Client, snapshot: str) -> dict[str, tuple[str, bytes]]:
    """Return ending and content of the files from which a board's inputs are computed."""
    votes = b"".join(as_jsonl(selection.open_export(snapshot=snapshot).batches(), VOTES))
    standings = browser.get(f"/api/v1/leaderboard/snapshots/{snapshot}/").content
    return {"export": ("jsonl", votes), "standings": ("json", standings)}


def test_report_of_run_is_recomputed(
    of_run: DecisionReport, sample: Sample, browser: Client, client: Client, tmp_path: Path
):
    content = file_of(browser, of_run)
    assert "The report agrees: 2 lines" in recompute(tmp_path, content)
    export = b"".join(WRITERS["jsonl"](RunExport(sample.run)))
    assert "Its inputs follow from the export" in recompute(tmp_path, content, export=("jsonl", export))
    actions.publish_report(of_run, with_names=False)
    nameless = file_of(client, of_run)
    assert "The report agrees: 2 lines" in recompute(tmp_path, nameless)
    with pytest.raises(CommandError, match="has no names"):
        recompute(tmp_path, nameless, export=("jsonl", export))


def test_changed_report_does_not_agree(of_run: DecisionReport, browser: Client, tmp_path: Path):
    file = json.loads(file_of(browser, of_run))
    file["report"]["figures"]["lines"][0]["value"] = 0.5
    with pytest.raises(CommandError) as complaint:
        recompute(tmp_path, json.dumps(file).encode())
    assert ".checksum:" in str(complaint.value)
    assert ".figures.lines[0].value: 0.5 is stored, 1.0 follows" in str(complaint.value)
    for content, reason in ((b"[]", "not a decision report"), (b"{", "not a decision report")):
        with pytest.raises(CommandError, match=reason):
            recompute(tmp_path, content)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("recompute_report", tmp_path / "none.json")


def test_report_of_run_survives_the_run(of_run: DecisionReport, sample: Sample, browser: Client, tmp_path: Path):
    delete_run(sample.run)
    assert "The report agrees" in recompute(tmp_path, file_of(browser, of_run))
    assert browser.get(page_of(of_run)).status_code == 200


def test_report_of_board_is_recomputed(of_board: DecisionReport, browser: Client, tmp_path: Path):
    content, snapshot = file_of(browser, of_board), AggregationRun.objects.get(scope="overall").public_id
    assert "The report agrees: 3 lines" in recompute(tmp_path, content)
    files = files_of_board(browser, snapshot)
    assert "Its inputs follow from the export" in recompute(tmp_path, content, **files)
    changed = json.loads(files["standings"][1])
    changed["results"][0]["score"] += 1
    with pytest.raises(CommandError, match="score was published as"):
        recompute(tmp_path, content, **{**files, "standings": ("json", json.dumps(changed).encode())})
    with pytest.raises(CommandError, match="--standings"):
        recompute(tmp_path, content, export=files["export"])
