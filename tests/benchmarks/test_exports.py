"""Exports of a run: each format has the same cells, and its report follows from them."""

import csv
import io
import json
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable
from datetime import datetime
from itertools import compress
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.test.utils import override_settings
from django.utils import translation
from python_calamine import load_workbook
from xlsxwriter import Workbook

from benchmarks.exports.columns import row_of
from benchmarks.exports.formats import WRITERS
from benchmarks.exports.run_export import RunExport
from benchmarks.exports.xlsx import CUT, ELSEWHERE, MAX_CELL, PlainSheet, cut
from benchmarks.imports.content import Request
from benchmarks.imports.reading import read_import
from benchmarks.models import Reply, Run, Score, Template
from benchmarks.reports.store import compute_report, store_report
from benchmarks.statistics.rows import ItemRow
from common.tables.parquet import read_rows as read_parquet
from tests import make
from tests.worlds.benchmarks import samples

pytestmark = pytest.mark.processes

LONG = "it goes on 🙂 " * 4_000
REPLIES = [
    "=1+1",
    "@SUM(A1)",
    "-2",
    "http://127.0.0.1/",
    LONG,
    '"quoted",\n\tand more',
    "_x0041_ 0012",
    "déjà 🙂 \u2028",
]


@pytest.fixture
def run(db: None) -> Run:
    """A finished run with hostile texts, named metrics and checks without a value."""
    owner = make.member().user
    models = [make.model(name=name, slug=f"m{number}") for number, name in enumerate(["=Ada", "Bob"])]
    run = samples.finished_run(owner, samples.template(owner, "=HYPERLINK(1)").versions.get(), models)
    for number, reply in enumerate(Reply.objects.order_by("pk")):
        Reply.objects.filter(pk=reply.pk).update(text=REPLIES[number % len(REPLIES)])
    items = list(run.items.filter(state="scored").order_by("pk"))
    Score.objects.bulk_create(
        [Score(item=item, check_key="=shape", value=0.1 + 0.2, metric="form", weight=0.3) for item in items[1:]]
        + [Score(item=items[0], check_key="=shape", error="scorer_failed", metric="form", weight=0.3)]
        + [Score(item=items[2], check_key="own", value=0, passed=False, label="not_extracted")]
    )
    store_report(run, compute_report(run))
    return Run.objects.select_related("version__template").get(pk=run.pk)


@pytest.fixture
def written(run: Run, tmp_path: Path) -> Callable[[str], Path]:
    def write(ending: str) -> Path:
        path = tmp_path / f"run.{ending}"
        call_command("export_benchmark_run", run.public_id, str(path), stderr=io.StringIO())
        return path

    return write


def rows_of(path: Path) -> list[ItemRow]:
    return [msgspec.json.decode(line, type=ItemRow) for line in path.read_bytes().splitlines()]


def workbook_cell(value: object) -> object:
    """Return what a workbook shows of a cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return float(f"{value:.16g}")  # the library writes 16 digits
    return value if isinstance(value, bool | int) else msgspec.json.encode(value).decode()


def test_formats_agree_cell_for_cell(run: Run, written: Callable[[str], Path]):
    rows, table = rows_of(written("jsonl")), RunExport(run).table
    assert (len(rows), {row.reply_text for row in rows if row.state == "scored"}) == (16, set(REPLIES))
    assert [row_of(cells) for cells in read_parquet(written("parquet"))] == rows
    whole = msgspec.json.decode(written("json").read_bytes(), type=dict[str, msgspec.Raw])
    assert bytes(whole["items"]) == b"[" + b",".join(written("jsonl").read_bytes().splitlines()) + b"]"
    sheets = load_workbook(written("xlsx"))
    assert sheets.sheet_names == ["Answers", "Summary", "Pairs", "Items", "Cases", "Method"]
    heading, *cells = sheets.get_sheet_by_name("Items").to_python()
    shown = [name not in ELSEWHERE for name in table.columns]
    assert heading == list(compress(table.columns, shown))
    assert cells == [[workbook_cell(value) for value in compress(table.cells(row), shown)] for row in rows]
    summary = {line[0]: line[1] for line in sheets.get_sheet_by_name("Summary").to_python()}
    assert (summary["run"], summary["template"], summary["errors_count"]) == (run.public_id, "=HYPERLINK(1)", "missing")
    assert [row[0] for row in sheets.get_sheet_by_name("Cases").to_python()][1:] == [
        c.lower() for c in samples.CAPITALS
    ]


def test_workbook_keeps_texts_and_numbers(tmp_path: Path):
    rows = [
        ["<r><t>not bold</t></r>", "]]>&amp;", " _x0041_ \x07\n", "=1+1", "née 🦙"],
        [True, 0.1, -2, 1e300, 10**15],
        [],
        ["", float("nan"), "end"],
    ]
    path = tmp_path / "cells.xlsx"
    with Workbook(path, {"constant_memory": True}) as workbook:
        workbook.add_worksheet(worksheet_class=PlainSheet).write_rows(rows)
    texts, numbers, empty, last = load_workbook(path).get_sheet_by_index(0).to_python()
    assert texts == rows[0]
    assert numbers == rows[1]
    assert (set(empty), last[:3]) == ({""}, ["", "null", "end"])


def test_workbook_has_values_only(run: Run, written: Callable[[str], Path]):
    Reply.objects.filter(text=REPLIES[0]).update(text='</t></is></c><c r="A9"><f>1+1</f></c><hyperlinks/>')
    with zipfile.ZipFile(written("xlsx")) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if name.startswith("xl/worksheets/sheet")]
    assert len(sheets) == 6
    assert {element.tag.rpartition("}")[2] for sheet in sheets for element in ElementTree.fromstring(sheet).iter()} == {
        "worksheet", "dimension", "sheetViews", "sheetView", "pane", "selection", "sheetFormatPr", "cols", "col",
        "sheetData", "row", "c", "is", "t", "v", "autoFilter", "pageMargins",
    }  # fmt: skip


def test_long_cell_is_cut_with_a_mark():
    shown = cut(LONG)
    assert shown.endswith(CUT)
    assert MAX_CELL - 1 <= len(shown.encode("utf-16-le")) // 2 <= MAX_CELL
    assert LONG.startswith(shown.removesuffix(CUT))


@pytest.mark.parametrize("wide", [False, True])
def test_csv_has_no_formulas(run: Run, wide: bool):
    content = b"".join(WRITERS["csv"](RunExport(run, is_wide=wide))).decode("utf-8-sig")
    heading, *rows = csv.reader(io.StringIO(content))
    assert (len(rows), {len(row) for row in rows}) == (8 if wide else 16, {len(heading)})
    assert not [cell for row in [heading, *rows] for cell in row if cell[:1] in ("=", "@") or cell == "-2"]


HEADING = [
    "Case", "Question", "Expected answer", "=Ada", "=Ada: verdict", "=Ada: score", "Bob", "Bob: verdict", "Bob: score",
]  # fmt: skip
ASKED = "What is the capital of Japan?"


def test_workbook_begins_with_a_sheet_for_people(run: Run, written: Callable[[str], Path]):
    workbook = load_workbook(written("xlsx"))
    heading, _france, japan, *_others = workbook.get_sheet_by_name("Answers").to_python()
    assert heading == HEADING
    assert japan == ["japan", ASKED, "Tokyo", REPLIES[1], "correct", 1, "", "failed", ""]
    pairs = workbook.get_sheet_by_name("Pairs").to_python()
    assert pairs[1][1:3] == ["=Ada", "Bob"]
    with zipfile.ZipFile(written("xlsx")) as archive:
        answers, pairs_sheet = (archive.read(f"xl/worksheets/sheet{number}.xml") for number in (1, 3))
    assert b'<pane xSplit="2" ySplit="1"' in answers
    assert b'<autoFilter ref="A1:I9"/>' in answers
    assert b'<pane ySplit="1"' in pairs_sheet


def test_csv_for_people_has_a_mark_and_their_language(run: Run):
    with translation.override("fr"):
        export = RunExport(run, is_wide=True)
    content = b"".join(WRITERS["csv"](export))
    assert content.startswith(BOM_UTF8)
    heading, _france, japan, *_others = csv.reader(io.StringIO(content.decode("utf-8-sig")))
    assert heading[:5] == ["Cas", "Question", "Réponse attendue", "'=Ada", "'=Ada\u00a0: verdict"]
    assert japan == ["japan", ASKED, "Tokyo", "'@SUM(A1)", "juste", "1.0", "", "échoué", ""]


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_sheet_of_answers_is_imported_again(run: Run, ending: str):
    content = b"".join(WRITERS[ending](RunExport(run, is_wide=True)))
    template = read_import(content, Request(f"run.{ending}")).template
    cases = [(case.key, case.variables["Question"], case.expected) for case in template.cases]
    assert cases == [(c.lower(), f"What is the capital of {c}?", [city]) for c, city in samples.CAPITALS.items()]


def test_columns_of_one_model_with_two_prompts_differ(run: Run):
    run.entrants.update(label="Same")
    assert list(RunExport(run).names.values()) == ["Same · plain · 000", "Same · plain · 001"]


def test_rows_of_answers_are_as_high_as_their_texts(tmp_path: Path):
    path = tmp_path / "rows.xlsx"
    rows = [["a", 1.5], ["one line\n" * 3, ""], ["x" * 25, ""], ["x" * 1_000, ""]]
    with Workbook(path, {"constant_memory": True}) as workbook:
        workbook.add_worksheet(worksheet_class=PlainSheet).write_rows(rows, widths=[10, 10])
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert re.findall(r' ht="(\d+)"', sheet) == ["15", "45", "45", "120"]


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "json"])
def test_report_follows_from_an_export_alone(written: Callable[[str], Path], ending: str):
    report, said = written("json"), io.StringIO()
    call_command("recompute_benchmark_run", str(written(ending)), report=report, stdout=said)
    assert "The report agrees: 2 entrants, 8 cases" in said.getvalue()


def test_changed_export_does_not_agree(run: Run, written: Callable[[str], Path], tmp_path: Path):
    lines = written("jsonl").read_bytes().splitlines()
    changed = json.loads(lines[3]) | {"score": 0.999}
    path = tmp_path / "changed.jsonl"
    path.write_bytes(b"\n".join([*lines[:3], json.dumps(changed).encode(), *lines[4:]]))
    with pytest.raises(CommandError, match=r"\.metrics\[0\]\.means\[0\]\.mean\.value: 1.0 is stored, 0.99"):
        call_command("recompute_benchmark_run", str(path), run=run.public_id)
    path.write_bytes(b"\n".join([*lines, lines[0]]))
    with pytest.raises(CommandError, match="two rows"):
        call_command("recompute_benchmark_run", str(path), run=run.public_id)


def test_inspect_logs_have_samples_scores_and_errors(run: Run, written: Callable[[str], Path]):
    with zipfile.ZipFile(written("inspect.zip")) as archive:
        assert archive.namelist() == ["000.json", "001.json"]
        logs = [json.loads(archive.read(name)) for name in archive.namelist()]
    first, second = logs
    assert list(first) == ["version", "status", "eval", "plan", "results", "stats", "samples"]
    assert (first["version"], first["status"], first["eval"]["model"]) == (2, "success", "m0")
    assert first["eval"]["config"] == {"epochs": 1, "epochs_reducer": ["mean"], "retry_on_error": 2}
    assert first["eval"]["model_generate_config"] == {"temperature": 0}
    report = {mean.entrant: mean.mean.value for mean in compute_report(run).metrics[0].means}
    for log, key in zip(logs, ("000", "001"), strict=True):
        assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == pytest.approx(report[key], rel=1e-12)
        assert (log["results"]["total_samples"], len(log["samples"])) == (8, 8)
    sample = first["samples"][0]
    assert (sample["id"], sample["epoch"], sample["target"]) == ("france", 1, "Paris")
    assert [message["role"] for message in sample["messages"]] == ["system", "user", "assistant"]
    assert sample["input"][1]["content"] == "What is the capital of France?"
    answer = sample["output"]["choices"][0]
    assert (answer["message"]["content"], answer["stop_reason"]) == (REPLIES[0], "stop")
    assert sample["scores"]["names the capital"] == {"value": 1.0, "metadata": {"passed": True}}
    [failed] = [sample for sample in second["samples"] if "error" in sample]
    assert (failed["id"], failed["error"]["message"], failed["scores"]) == ("japan", "cut", {})


def test_inspect_log_of_one_entrant_is_no_zip(run: Run, tmp_path: Path):
    with pytest.raises(CommandError, match=r"inspect\.zip for a run with 2 entrants"):
        call_command("export_benchmark_run", run.public_id, str(tmp_path / "run.inspect.json"))
    run.entrants.filter(position=1).delete()
    path = tmp_path / "run.inspect.json"
    call_command("export_benchmark_run", run.public_id, str(path), stderr=io.StringIO())
    assert json.loads(path.read_bytes())["eval"]["eval_id"] == f"{run.public_id}-000"


@pytest.mark.django_db(transaction=True)
def test_downloads_lack_contents_of_held_out_templates(run: Run):
    address, owner = f"/benchmarks/r/{run.public_id}/export.", Client()
    owner.force_login(run.owner)
    assert Client().get(f"{address}jsonl").status_code == 404
    assert owner.get(f"{address}exe").status_code == 404
    Run.objects.update(published_at=run.finished_at, name="Größe: A/B")
    Template.objects.update(held_out=True)
    for ending in WRITERS:
        response = owner.get(address + ending)
        shown = "inspect.zip" if ending == "inspect" else ending
        name = quote(f"Größe A B {run.created_at:%Y-%m-%d}.{shown}")
        assert response["Content-Disposition"] == f"attachment; filename*=utf-8''{name}"
    own, others = (samples.downloaded(client.get(f"{address}json")).decode() for client in (owner, Client()))
    with zipfile.ZipFile(io.BytesIO(samples.downloaded(Client().get(f"{address}inspect")))) as logs:
        others += "".join(logs.read(name).decode() for name in logs.namelist())
    assert "Answer with one word" in own
    assert "Paris" in own
    assert "canary" in own
    assert "@SUM" in own
    assert not [text for text in ("Answer with one word", "Paris", "@SUM", "goes on") if text in others]
    Run.objects.update(item_count=0)
    assert owner.get(f"{address}json").status_code == 409
    Run.objects.update(item_count=1_048_576)
    assert owner.get(f"{address}xlsx").status_code == 422
    with override_settings(
        ARENA_LIMITS={("export", who): "1/hour" for who in ("visitor", "member", "network", "network48")}
    ):
        assert [owner.get(f"{address}json").status_code for _ in range(2)][1] == 429
