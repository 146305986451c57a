import json
from datetime import UTC, datetime

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from numpy.linalg import LinAlgError

from leaderboard.export_rows import STYLE_COUNTS
from leaderboard.imports import columns, reference
from leaderboard.imports.reference import fit_table
from leaderboard.imports.tables import BadLine, NotATable, TableVote, read_table
from leaderboard.rating.outcomes import OUTCOMES
from tests.worlds.ratings import reference_votes
from tests.worlds.vote_tables import COUNTS, SINGLE, table


def read(path):
    return [line for lines in read_table(path) for line in (lines if isinstance(lines, list) else [lines])]


def test_line_is_read_with_all_columns(tmp_path):
    path = table(
        tmp_path / "votes.csv",
        (*SINGLE, "judge", "tstamp", "category", "tokens_a", "headers_a", "tokens_b"),
        ("Ada", "Bob", "model_a", "w-1", "2024-08-14", "maths", 10, 2, "7.0"),
        ("Ada", "Bob", "tie (bothbad)", "", "1723593600.0", "", "", "", ""),
    )
    midnight = datetime(2024, 8, 14, tzinfo=UTC)
    style = {
        "left": {"tokens": 10, "headings": 2, "bold": 0, "lists": 0},
        "right": {"tokens": 7, "headings": 0, "bold": 0, "lists": 0},
    }
    assert read(path) == [
        TableVote("Ada", "Bob", "left", 1, "w-1", midnight, "maths", style),
        TableVote("Ada", "Bob", "both_bad", 1, "", midnight, "", None),
    ]


def test_counts_are_read_as_equal_votes(tmp_path):
    path = table(tmp_path / "counts.csv", COUNTS, ("Ada", "Bob", 3, 0, 2, 1), ("Bob", "Cy", 0, 4, "", 0))
    assert [(vote.left, vote.right, vote.outcome, vote.n) for vote in read(path)] == [
        ("Ada", "Bob", "left", 3), ("Ada", "Bob", "tie", 2), ("Ada", "Bob", "both_bad", 1), ("Bob", "Cy", "right", 4),
    ]  # fmt: skip


def test_json_lines_equal_csv(tmp_path):
    lines = [("Ada", "Bob", "model_b"), ("Bob", "Ada", "tie")]
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(SINGLE, line, strict=True))) for line in lines))
    assert read(path) == read(table(tmp_path / "votes.csv", SINGLE, *lines))


def test_bad_lines_are_reported_with_numbers(tmp_path):
    path = table(
        tmp_path / "votes.csv",
        (*SINGLE, "tstamp", "category", "tokens_a"),
        ("Ada", "Bob", "model_a", "", "", 1),
        ("Ada", "Ada", "model_a", "", "", 1),
        ("Ada", "", "model_a", "", "", 1),
        ("Ada", "Bob", "Ada", "", "", 1),
        ("Ada", "Bob", "tie", "last week", "", 1),
        ("Ada", "Bob", "tie", "", "a;b", 1),
        ("Ada", "Bob", "tie", "", "", -1),
        ("Ada", "Bob", "tie", "", "", "NaN"),
        ("A" * 201, "Bob", "tie", "", "", 1),
        ("A\x00", "Bob", "tie", "", "", 1),
        ("Ada", "Bob", "tie", "1e99", "", 1),
        ("Ada", "Bob"),
    )
    bad = [line.line for line in read(path) if isinstance(line, BadLine)]
    assert bad == list(range(3, 14))
    broken = tmp_path / "votes.jsonl"
    broken.write_text('{"model_a": "Ada", "model_b": "Bob", "winner": "tie"}\n{"model_a":\n[1]\n{}\n' + "[" * 9999)
    assert [line.line for line in read(broken) if isinstance(line, BadLine)] == [2, 3, 4, 5]


def test_invalid_table_is_refused(tmp_path):
    for name, text, sentence in [
        ("votes.xlsx", "", "ends in .csv, .tsv or .jsonl"),
        ("empty.csv", "", "empty.csv is empty"),
        ("blank.tsv", "\ufeff\n \n", "blank.tsv is empty"),
        ("heading.csv", "model_a,model_b,winner\n\n", "heading.csv has no votes"),
        ("lines.jsonl", "\n", "lines.jsonl has no votes"),
        ("twice.csv", "model_a,model_b,winner,winner\na,b,tie,model_a\n", "has 2 columns named winner"),
        ("votes.csv", "left,right\na,b\n", "columns model_a and model_b"),
        ("more.csv", "model_a,model_b\na,b\n", "column winner, or counts"),
        ("odd.csv", b"model_a,model_b,winner\n\xff,b,tie\n", "cannot be read as CSV"),
    ]:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(NotATable, match=sentence):
            read(path)


def test_numbers_beyond_limits_are_refused_with_their_line(tmp_path):
    path = table(tmp_path / "zero.csv", COUNTS, ("Ada", "Bob", 1, 0, 0, 0), ("Ada", "Cy", 0, "", 0, 0))
    assert read(path)[-1] == BadLine(3, "all counts are 0.")
    path = table(tmp_path / "wide.csv", SINGLE, ("Ada", "Bob", "tie"), ("Ada", "Bob", "tie", "x"))
    assert read(path)[-1] == BadLine(3, "4 cells under a heading of 3.")
    half = 2**30
    path = table(tmp_path / "many.csv", COUNTS, ("A", "B", half, half - 1, 0, 0), ("A", "C", 1, 0, 0, 0), ("A", "", 0))
    sentence = "with this line the table has 2,147,483,648 votes; 2,147,483,647 is the most."
    assert read(path)[1:] == [read(path)[1], BadLine(3, sentence)]


@pytest.mark.parametrize(("name", "separator"), [("v.CSV", ","), ("v.csv", ";"), ("v.tsv", "\t"), ("v.csv", "\t")])
def test_every_usual_separator_is_read(tmp_path, name, separator):
    path = tmp_path / name
    rows = (SINGLE, ("Ada, the first", "Bob; or so", "tie"))
    path.write_text("\n".join(separator.join(f'"{cell}"' for cell in row) for row in rows))
    assert read(path) == [TableVote("Ada, the first", "Bob; or so", "tie", 1, "", None, "", None)]


def test_votes_without_fit_are_refused_in_words(tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise LinAlgError("7-th leading minor not positive definite")

    monkeypatch.setattr(reference, "fit_reference", fail)
    path = table(tmp_path / "votes.csv", SINGLE, *[("Ada", "Bob", "tie")] * 3)
    with pytest.raises(CommandError, match=r"votes\.csv cannot be fitted: their counts differ too much\. Nothing"):
        call_command("import_votes", str(path), "--reference")


SETS = ["arena_20240814_paircounts", "copilot_arena_examples", "football_intl", "llmfao_crowd", "mtbench_human"]


@pytest.mark.parametrize("name", SETS)
def test_reference_fit_equals_public_implementations(name, capsys):
    expected = reference_votes.reference(name)
    call_command("import_votes", str(reference_votes.table_path(name)), "--reference")
    result = json.loads(capsys.readouterr().out)
    for fact in ("models", "votes", "weak_components", "strong_components", "separable"):
        assert result[fact] == expected[fact]
    for part in ("ratings", "lower", "upper", "se", "se_arena_compat"):
        if result["ours"] is None:
            assert result["strong_components"] > 1
        else:
            assert np.allclose(result["ours"][part], expected["ours"][part], rtol=0, atol=1e-6)
    if result["elo_k32_1500"] is not None:
        assert np.allclose(result["elo_k32_1500"], expected["elo_k32_1500"], rtol=0, atol=1e-6)
    if "style" in expected:
        others = expected["style"]["arena_reg1e-12_unweighted"]
        assert np.allclose(result["style"]["ratings"], others["arena_ratings"], rtol=0, atol=1e-3)
        assert np.allclose(result["style"]["coeffs"], others["arena_coeffs"], rtol=0, atol=1e-6)


def test_chatbot_arena_fit_equals_other_libraries():
    expected = reference_votes.reference("arena_20240814_paircounts")
    result = fit_table(reference_votes.CHATBOT_ARENA)
    assert result["models"] == expected["models"]
    for part in ("ratings", "se", "se_arena_compat"):
        assert np.allclose(result["ours"][part], expected["ours"][part], rtol=0, atol=1e-6)


def test_reference_fit_reports_bad_line(tmp_path):
    path = table(tmp_path / "votes.csv", SINGLE, ("Ada", "Bob", "tie"), ("Ada", "Bob", "Cy"))
    with pytest.raises(CommandError, match=r"votes\.csv:3: winner is one of"):
        call_command("import_votes", str(path), "--reference")


def by_rows(path):
    return [vote for lines in read_table(path) for vote in lines]


def by_columns(path):
    read = columns.TableColumns(path)
    votes = []
    for batch in read.batches():
        for i in range(len(batch.n)):
            sides = dict(zip(("left", "right"), batch.style[i].reshape(2, 4).tolist(), strict=True))
            style = {side: dict(zip(STYLE_COUNTS, counts, strict=True)) for side, counts in sides.items()}
            moment = batch.created_at[i].item()
            votes.append(
                TableVote(
                    read.names.words[batch.left[i]],
                    read.names.words[batch.right[i]],
                    OUTCOMES[batch.outcome[i]],
                    int(batch.n[i]),
                    read.voters.words[batch.voter[i]],
                    moment and moment.replace(tzinfo=UTC),
                    read.categories.words[batch.category[i]],
                    style if batch.has_style[i] else None,
                )
            )
    return votes


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_columns_equal_rows_of_reference_tables(name, monkeypatch):
    monkeypatch.setattr(columns, "BATCH", 1000)
    path = reference_votes.table_path(name)
    assert by_columns(path) == by_rows(path)


def test_columns_equal_rows_of_unusual_cells(tmp_path):
    path = tmp_path / "votes.tsv"
    path.write_text(
        "\ufeff\n model_a \tmodel_b\twinner\tunused\tjudge\ttstamp\ttokens_b\n"
        'Ada\t"Bob ""B"""\ttie\t\tw\t1723593600.0000015\t7\n\n'
        "Ada\tCy\\\tmodel_a\tx\t\t2024-08-14T02:00+02:00\t\n"
        ' "Bob \tAda\tmodel_b\t\tw\t\t 3\n',
        encoding="utf-8",
    )
    assert by_columns(path) == by_rows(path)


@pytest.mark.parametrize("line", ["Ada,Bob", "Ada,Ada,tie", "Ada,,tie", "Ada,Bob,Cy", "Ada,Bob,tie,x", '"Ada'])
def test_columns_leave_bad_lines_to_rows(tmp_path, line):
    path = tmp_path / "votes.csv"
    path.write_text(f"model_a,model_b,winner\nAda,Bob,tie\n{line}\n")
    with pytest.raises(columns.NeedsRows):
        by_columns(path)
    assert isinstance(read(path)[1], BadLine)
