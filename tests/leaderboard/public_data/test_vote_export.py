import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from battles.models import Vote
from common.tables.writers import WRITERS
from leaderboard import actions
from leaderboard.export_rows import Context, SideContext, Style, StyleCounts
from leaderboard.exports import selection, votes
from leaderboard.exports.readers import NotAnExport, read_rows
from tests import make
from tests.leaderboard.public_data.exports import export, publish, rows
from tests.leaderboard.vote_factory import cast, cast_many, contestants

pytestmark = pytest.mark.django_db

Reason = Vote.ExcludedReason


def test_row_has_exactly_the_documented_fields(tmp_path):
    gold, silver = contestants("gold", "silver")
    vote = cast(gold, silver, "left", voter="visitor:7")
    [line] = export(tmp_path).read_text().splitlines()
    row = json.loads(line)
    assert len(row.pop("voter")) == 24
    assert row == {
        "order": vote.order,
        "model_left": "gold",
        "model_right": "silver",
        "choice": "left",
        "created_at": vote.created_at.isoformat().replace("+00:00", "Z"),
        "board": "overall",
        "categories": [],
        "language": "und",
        "turn_count": 1,
        "style": None,
        "excluded_reason": None,
        "excluded_at": None,
        "n": 1,
        "context": None,
        "origin": "draw",
    }


@pytest.mark.parametrize("ending", WRITERS)
def test_export_contains_no_identifiers(tmp_path, ending):
    """No e-mail, key, id of a user, visitor, session or battle, and no prompt, answer or comment."""
    gold, silver = contestants("gold", "silver")
    member, visitor = make.member(email="canary@example.org"), make.visitor()
    secrets = ["canary", "visitor:", "user:", visitor.visitor.key]
    for actor in (member, visitor):
        battle = make.answered_battle(gold, silver, actor=actor)
        battle.turns.update(prompt="a canary prompt")
        vote = Vote.objects.create(
            battle=battle, choice="tie", model_left=gold, model_right=silver, turn_count=1,
            voter=actor.key, comment="a canary comment", tags={"left": ["canary"]},
        )  # fmt: skip
        secrets += [battle.public_id, battle.session.public_id, vote.voter]
    file = export(tmp_path, ending=ending)
    content = file.read_bytes() + repr(list(read_rows(file))).encode()
    assert [secret for secret in secrets if secret.encode() in content] == []


def test_pseudonyms_differ_between_exports(tmp_path):
    gold, silver = contestants("gold", "silver")
    for voter in ("visitor:1", "visitor:2", "visitor:1"):
        cast(gold, silver, "left", voter=voter)
    first, second = ([row.voter for row in rows(tmp_path)] for _ in range(2))
    for names in (first, second):
        assert names[0] == names[2] != names[1]
    assert not set(first) & set(second)


def test_vote_formats_are_equal(tmp_path, monkeypatch):
    monkeypatch.setattr(votes, "new_pseudonyms", lambda: lambda voter: f"name of {voter}")
    monkeypatch.setattr(votes, "BATCH", 2)
    gold, silver = contestants("gold", "silver")
    style = {
        "left": {"tokens": 10, "headings": 1, "bold": 0, "lists": 2},
        "right": {"tokens": 3, "headings": 3, "bold": 3, "lists": 3},
    }
    context = {
        "files": 2,
        "left": {"met": True, "reasoning": False, "first_token_ms": None},
        "right": {"met": False, "reasoning": True, "first_token_ms": 310},
    }
    for number, choice in enumerate(Vote.Choice.values * 2):
        vote = cast(
            gold,
            silver,
            choice,
            style=(style | ({} if number % 3 == 0 else {"context": context})) if number % 2 else {},
        )
        Vote.objects.filter(pk=vote.pk).update(categories=["coding", "maths"] if number % 3 else [], language="fr")
    actions.retract(vote, reason=Reason.OPERATOR, by=None)
    jsonl, csv, parquet = (rows(tmp_path, ending=ending) for ending in WRITERS)
    assert len(jsonl) == 8
    assert jsonl[1].style == Style(StyleCounts(10, 1, 0, 2), StyleCounts(3, 3, 3, 3))
    assert jsonl[7].excluded_at is not None
    assert jsonl[1].context == Context(2, SideContext(True, False, None), SideContext(False, True, 310))
    assert (jsonl[0].context, jsonl[3].context) == (None, None)
    assert csv == jsonl
    assert parquet == jsonl


def test_snapshot_export_has_state_at_snapshot(tmp_path):
    gold, silver = contestants("gold", "silver")
    restored_again, excluded_later, restored_later = cast_many(gold, silver, left=3)
    incomplete = cast(gold, silver, "tie", excluded=Reason.INCOMPLETE)
    publish()
    actions.retract(restored_later, reason=Reason.MODERATION, by=None)
    snapshot = publish()
    exclusion = restored_later.changes.get()
    actions.restore(restored_later, by=None)
    actions.retract(excluded_later, reason=Reason.OPERATOR, by=None)
    actions.retract(restored_again, reason=Reason.ANOMALY, by=None)
    actions.restore(restored_again, by=None)
    cast(gold, silver, "right")
    at_snapshot = {
        row.order: (row.excluded_reason, row.excluded_at) for row in rows(tmp_path, "--snapshot", snapshot.public_id)
    }
    assert at_snapshot == {
        restored_again.order: (None, None),
        excluded_later.order: (None, None),
        restored_later.order: ("moderation", exclusion.at),
        incomplete.order: ("incomplete", incomplete.created_at),
    }
    current = {row.order: row.excluded_reason for row in rows(tmp_path)}
    assert list(current.values()) == [None, "operator", None, "incomplete", None]


def test_changes_during_export_are_not_visible(monkeypatch):
    monkeypatch.setattr(votes, "BATCH", 2)
    gold, silver = contestants("gold", "silver")
    cast_votes = cast_many(gold, silver, left=4)
    publish()
    batches = selection.open_export().batches()
    exported = next(batches)
    actions.retract(cast_votes[3], reason=Reason.OPERATOR, by=None)
    cast(gold, silver, "left")
    exported += [row for batch in batches for row in batch]
    assert [row.order for row in exported] == [vote.order for vote in cast_votes]
    assert all(row.counts for row in exported)


def test_export_continues_after_number_or_time(tmp_path):
    gold, silver = contestants("gold", "silver")
    cast_votes = cast_many(gold, silver, left=3)
    orders = [vote.order for vote in cast_votes]
    assert [row.order for row in rows(tmp_path, "--since", str(orders[0]))] == orders[1:]
    tomorrow = timezone.now() + timedelta(days=1)
    assert rows(tmp_path, "--since", tomorrow.isoformat()) == []
    assert len(rows(tmp_path, "--since", "2000-01-01")) == 3
    with pytest.raises(CommandError, match="A time"):
        rows(tmp_path, "--since", "yesterday")


def test_export_has_constant_query_count():
    gold, silver, bronze = contestants("gold", "silver", "bronze")

    def query_count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert list(selection.open_export().batches())
        return len(queries)

    cast_many(gold, silver, left=2)
    before = query_count()
    cast_many(silver, bronze, left=10, tie=10)
    assert query_count() == before


def test_invalid_export_is_refused_with_its_row(tmp_path):
    gold, silver = contestants("gold", "silver")
    cast_many(gold, silver, left=2)
    file = export(tmp_path)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], lines[1].replace('"left"', '"upwards"')]))
    with pytest.raises(NotAnExport, match=r"row 2: .*upwards"):
        list(read_rows(file))
    for name, text in (
        ("x.csv", "order,voter\n1,x\n"),
        ("x.parquet", "PAR"),
        ("y.parquet", "PAR1" * 9),
        ("x.xlsx", ""),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(NotAnExport):
            list(read_rows(tmp_path / name))


def test_empty_arena_has_empty_export(tmp_path):
    assert [rows(tmp_path, ending=ending) for ending in WRITERS] == [[], [], []]


def test_export_to_standard_output(capfdbinary):
    gold, silver = contestants("gold", "silver")
    cast_many(gold, silver, left=2)
    call_command("export_votes", "-", "--as", "jsonl")
    lines = capfdbinary.readouterr().out.splitlines()
    assert [json.loads(line)["model_left"] for line in lines] == ["gold", "gold"]


def test_failed_export_explains_and_leaves_no_file(tmp_path):
    for options, sentence in [
        ([str(tmp_path / "votes.xlsx")], "ends in one of"),
        ([str(tmp_path / "votes.csv"), "--snapshot", "unheard-of"], "no such snapshot"),
        ([str(tmp_path / "nowhere" / "votes.csv")], "cannot be written"),
        ([str(tmp_path / "votes.csv"), "--snapshot", "a", "--since", "1"], "not both"),
    ]:
        with pytest.raises(CommandError, match=sentence):
            call_command("export_votes", *options)
    assert list(tmp_path.iterdir()) == []
