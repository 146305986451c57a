"""A file with any error gives no content, and the report names every error with its line."""

import gzip
import json
from random import Random

import pytest

from benchmarks.imports.content import Request
from benchmarks.imports.limits import MAX_CASES, MAX_COLUMNS, MAX_ENTRIES
from benchmarks.imports.reading import read_import
from tests.benchmarks.imports import files

CONFIG = b"prompts: ['{{ q }}']\ntests:\n  - vars:\n      q: "
TASK = b"task: own\ndoc_to_text: q\ndoc_to_target: a\n"
ALIASES = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b", ".join([b"*%c" % (letter - 1)] * 9))
    for letter in range(ord("b"), ord("i"))
)
ROW = '{"question_id": "q1", "turns": ["one"]}\n'
# sentence: (file's name, content, (code, line, column))
BAD = {
    "nothing": ("own.csv", b" \n", ("empty_file", 0, 0)),
    "heading only": ("own.csv", b"q,a\n", ("no_cases", 0, 0)),
    "ragged row": ("own.csv", b"q,a\nx,y\n\"1\n2\",3\nz,4,5\n", ("ragged_row", 5, 3)),
    "too many cells": ("own.csv", b"q,a\nx,y,z\n", ("ragged_row", 2, 3)),
    "open quotation mark": ("own.csv", b'q,a\nx,"y\n', ("not_csv", 2, 0)),
    "too many columns": ("own.csv", b",".join(b"c%d" % n for n in range(MAX_COLUMNS + 1)), ("too_many_columns", 1, 0)),
    "key twice": ("own.csv", b"id,question\na,x\nb,y\na,z\n", ("duplicate_case", 4, 0)),
    "weight of zero": ("own.csv", b"question,weight\nx,0\n", ("weight_not_positive", 2, 2)),
    "weight is no number": ("own.csv", b"question,weight\nx,1\ny,much\n", ("not_a_number", 3, 2)),
    "binary": ("own.csv", b"q,a\nx,y\nz\xe9\1\2\3\4\5\6,z\n", ("not_utf8", 3, 2)),
    "NULs in a table": ("own.csv", b"q,a\nx,y\nz,\0\0\0\0\n", ("nul", 3, 3)),
    "long cell": ("own.csv", b"q,a\nx,y\nz," + b"a" * 300_000, ("text_too_long", 3, 0)),
    "bad JSON line": ("own.jsonl", b'{"q": 1}\n\n{"q": }\n', ("not_json", 3, 7)),
    "line is no object": ("own.jsonl", b'{"q": 1}\n[1]\n', ("not_an_object", 2, 0)),
    "field twice": ("own.jsonl", b'{"q": 1}\n{"q": 1, "b": 2, "q": 3}\n', ("duplicate_key", 2, 18)),
    "NaN": ("own.jsonl", b'{"q": 1}\n{"q": NaN}\n', ("not_finite", 2, 7)),
    "Infinity": ("own.jsonl", b'{"q": [-Infinity]}\n{"q": 1}\n', ("not_finite", 1, 8)),
    "too large to be finite": ("own.jsonl", b'{"q": 1e999}\n', ("not_finite", 1, 0)),
    "number of 20 digits": ("own.jsonl", b'{"q": 12345678901234567890}\n', ("number_too_large", 1, 0)),
    "escaped NUL": ("own.jsonl", b'{"q": "a\\u0000"}\n', ("nul", 1, 0)),
    "lone surrogate": ("own.jsonl", b'{"q": "x"}\n{"q": "\\ud800"}\n', ("lone_surrogate", 2, 0)),
    "deep JSON line": ("own.jsonl", b'{"q": ' + b"[" * 40 + b"]" * 40 + b"}\n", ("too_deep", 1, 0)),
    "deeper JSON line": ("own.jsonl", b'{"q": ' + b"[" * 100_000 + b"\n", ("too_deep", 1, 0)),
    "bad JSON array": ("own.json", b'[\n {"q": 1},\n {"q" 2}\n]', ("not_json", 3, 7)),
    "array with a field twice": ("own.json", b'[\n {"q": 1},\n {"q": 1, "q": 2}\n]', ("duplicate_key", 3, 2)),
    "array without comma": ("own.json", b'[{"q": 1}\n {"q": 2}]', ("not_json", 2, 2)),
    "configuration with a field twice": ("own.json", b'{"prompts": ["a"],\n "prompts": ["b"]}',
                                        ("duplicate_key", 2, 2)),
    "object without records": ("own.json", b'{"q": 1}', ("no_records", 1, 1)),
    "tests that include themselves": (
        "own.zip", files.archive({"a.yaml": b"prompts: [a]\ntests: file://t.yaml\n", "t.yaml": b"- file://t.yaml\n"}),
        ("file_includes_itself", 1, 3),
    ),
    "bad YAML": ("own.yaml", b"prompts: [a\ntests: b\n", ("not_yaml", 2, 6)),
    "YAML tag": ("own.yaml", CONFIG + b"!!python/name:os.system x\n", ("yaml_tag", 4, 10)),
    "function of lm-eval": ("own.yaml", TASK + b"process_docs: !function utils.run\n", ("yaml_tag", 4, 15)),
    "YAML key twice": ("own.yaml", b"prompts: [a]\ntests: []\nprompts: [b]\n", ("duplicate_key", 3, 1)),
    "YAML infinity": ("own.yaml", CONFIG + b".inf\n", ("not_finite", 4, 10)),
    "YAML alias of itself": ("own.yaml", b"prompts: &a [*a]\n", ("alias_of_itself", 1, 10)),
    "YAML alias bomb": ("own.yaml", ALIASES, ("too_many_nodes", 5, 4)),
    "configuration in JSON": ("own.json", b'{"prompts": ["a"],\n "tests": [\n  {"vars": []}]}',
                              ("variables_not_understood", 3, 12)),
    "prompt from a program": ("own.yaml", b"prompts:\n  - exec:./p.sh\n", ("prompt_from_elsewhere", 2, 5)),
    "prompt from a file beside": ("own.yaml", b"prompts:\n  - file://p.txt\n", ("file_missing", 2, 5)),
    "prompt from a file above": ("own.yaml", b"prompts:\n  - file://../p.txt\n", ("file_outside_archive", 2, 5)),
    "tests from an address": ("own.yaml", b"prompts: [a]\ntests: https://example.org/t.csv\n",
                              ("file_outside_archive", 2, 8)),
    "environment": ("own.yaml", CONFIG + b'"{{ env.KEY }}"\n', ("environment_refused", 4, 10)),
    "conversation": ("own.yaml", b'prompts: ["{{ _conversation }}"]\n', ("conversation_not_supported", 1, 11)),
    "likelihood": ("own.yaml", TASK + b"output_type: loglikelihood\n", ("likelihood_not_available", 4, 14)),
    "documents of the hub": ("own.yaml", TASK + b"dataset_path: own/set\n", ("documents_missing", 4, 15)),
    "judgements": ("own.jsonl", b'{"uid": "u", "games": []}\n', ("judge_not_available", 0, 0)),
    "sandbox of inspect": ("own.jsonl", b'{"input": "a", "target": "b", "sandbox": "docker"}\n',
                           ("sandbox_not_supported", 1, 0)),
    "file to be fetched": ("own.jsonl", b'{"input": "a", "target": "b", "files": {"x": "https://example.org/x"}}\n',
                           ("file_is_no_data", 1, 0)),
    "turns differ": ("own.jsonl", f'{ROW}{{"question_id": "q2", "turns": ["one", "two"]}}\n'.encode(),
                     ("turns_differ", 2, 0)),
    "error as an answer": ("own.jsonl", b'{"question_id": "q", "model_id": "m", "choices": [{"turns": ["$ERROR$"]}]}\n',
                           ("answer_is_an_error", 1, 0)),
    "letter beyond the choices": ("own.jsonl", b'{"question": "a", "choices": ["b", "c"], "answer": 2}\n',
                                  ("answer_is_no_choice", 1, 0)),
    "unknown rule": ("own.jsonl", b'{"prompt": "a", "instruction_id_list": ["own:rule"], "kwargs": [{}]}\n',
                     ("rule_unknown", 1, 0)),
    "too many cases": ("own.jsonl", b'{"question": "a"}\n' * (MAX_CASES + 1), ("too_many_cases", MAX_CASES + 1, 0)),
    "cut gzip": ("own.csv.gz", gzip.compress(b"q,a\n" * 999)[:-9], ("damaged_archive", 0, 0)),
    "archive in an archive": ("own.zip", files.archive({"a.zip": files.archive({"b": b"c"})}),
                              ("archive_in_archive", 0, 0)),
    "path outside the archive": ("own.zip", files.archive({"../a.csv": b"q\nx\n"}), ("path_outside_archive", 0, 0)),
    "archive of 201 files": ("own.zip", files.archive({f"{n}.csv": b"q" for n in range(201)}),
                             ("too_many_files", 0, 0)),
    "cut workbook": ("own.xlsx", files.workbook([["q"], ["x"]])[:-30], ("not_a_spreadsheet", 0, 0)),
    "wide row of a workbook": ("own.xlsx", files.workbook([["q"], *[["x"]] * 25, ["x", "y"]]), ("ragged_row", 27, 2)),
    "cut Parquet": ("own.parquet", files.parquet({"q": ["x"]})[:-9], ("not_parquet", 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("sentence", BAD)
def test_bad_file_is_refused_with_its_place(sentence: str):
    name, content, expected = BAD[sentence]
    imported = read_import(content, Request(name))
    first = next(entry for entry in imported.entries if entry.action == "refused")
    assert (first.code, first.line, first.column) == expected
    assert (imported.template, imported.replies, imported.models) == (None, [], [])
    assert imported.is_refused


def test_all_errors_of_a_file_are_told_with_lines():
    imported = read_import(b'{"input": "a"}\nnone\n{"target": "b"}\n{}\n', Request("own.jsonl", format="inspect"))
    refused = [(entry.code, entry.line) for entry in imported.entries if entry.action == "refused"]
    assert refused == [("not_json", 2), ("field_missing", 3), ("field_missing", 4)]
    assert imported.counts["refused"] == 3


def test_reading_ends_after_a_thousand_errors():
    imported = read_import(b"q,a\n" + b"x,y,z\n" * 3_000, Request("own.csv"))
    assert len(imported.entries) == imported.counts["refused"] == MAX_ENTRIES


def test_unknown_role_and_column_are_refused():
    for mapping, code in [({"q": "boss"}, "role_unknown"), ({"q": "prompt", "z": "key"}, "column_missing")]:
        assert read_import(b"q\nx\n", Request("own.csv", mapping=mapping)).entries[-1].code == code


def test_texts_in_the_report_are_short_and_storable():
    row = json.dumps({"q": 1, "a" * 5_000: 2})[:-1] + ', "' + "a" * 5_000 + '": 3}'
    entry = read_import(row.encode(), Request("own.jsonl")).entries[0]
    assert (entry.code, len(entry.values["name"])) == ("duplicate_key", 200)


@pytest.mark.slow
def test_damaged_samples_are_read_or_refused():
    random = Random(18)
    for path in sorted(files.SAMPLES.iterdir()) * 12:
        content, name = files.sample(path.name)
        damaged = bytearray(content)
        for _ in range(random.randint(1, 6)):
            damaged[random.randrange(len(damaged))] = random.choice(b'{}[]",:\n\t\\0x#&*!|>-\xff\x00 ')
        imported = read_import(bytes(damaged), Request(name))
        assert (imported.template is None and not imported.replies) == imported.is_refused
