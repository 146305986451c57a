import json
import random
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from msgspec.structs import replace

from battles.actions import reassign_votes
from battles.labels import LabelChange, Labels
from battles.models import Vote
from battles.signals import labels_change, relabelling_begins
from common.tables.writers import as_jsonl
from leaderboard import actions
from leaderboard.aggregation import fit_boards, job
from leaderboard.counting.vote_log import PendingVotes
from leaderboard.export_rows import VoteRow
from leaderboard.exports.columns import VOTES
from leaderboard.exports.readers import read_rows
from leaderboard.models import AggregationRun, EloRating
from tests.leaderboard.public_data.exports import export, publish
from tests.leaderboard.vote_factory import ballot, cast, cast_all, contestants

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

Reason = Vote.ExcludedReason


@transaction.atomic
def relabel(vote: Vote, *categories: str, language: str) -> None:
    before, after = Labels(tuple(vote.categories), vote.language), Labels(categories, language)
    relabelling_begins.send(sender=Vote)
    labels_change.send(sender=Vote, changes=[LabelChange(vote.pk, before, after)])
    Vote.objects.filter(pk=vote.pk).update(categories=list(categories), language=language)


@pytest.fixture
def votes() -> list[Vote]:
    return cast_random_votes()


def cast_random_votes(*, only_winners_have_headings: bool = False) -> list[Vote]:
    """Cast 240 labelled votes with styles, some excluded, on three established models and a newcomer."""
    chance = random.Random(4)
    models = contestants("gold", "silver", "bronze", "newcomer")
    ballots = []
    for number in range(240):
        left, right = chance.sample(models[:3] if number % 20 else [models[3], chance.choice(models[:3])], 2)
        style = {
            side: {name: chance.randrange(200) for name in ("tokens", "headings", "bold", "lists")}
            for side in ("left", "right")
        }
        choice = chance.choices(Vote.Choice.values, [6, 3, 1, 1])[0]
        if only_winners_have_headings:
            style = {side: {**counts, "headings": int(choice == side)} for side, counts in style.items()}
        style["context"] = {
            "files": number % 3,
            "left": {
                "met": choice == "left" or number % 7 == 0, "reasoning": False,
                "first_token_ms": 200 + 37 * number % 900,
            },
            "right": {
                "met": choice == "right", "reasoning": False, "first_token_ms": None if number % 11 == 0 else 700,
            },
        }  # fmt: skip
        ballots.append(
            ballot(
                left, right, choice,
                voter=f"visitor:{chance.randrange(25)}", excluded=Reason.INCOMPLETE if number % 50 == 0 else "",
                categories=chance.choice([[], ["coding"], ["coding", "maths"]]), language=chance.choice(["en", "fr"]),
                labelled_by="test", style=style,
            )
        )  # fmt: skip
    return cast_all(ballots)


def snapshots() -> list[str]:
    return list(AggregationRun.objects.published().values_list("public_id", flat=True))


def recompute(*options: str) -> None:
    call_command("recompute_snapshot", *options)


def agrees(snapshot: str, rows: list[VoteRow], folder: Path) -> bool:
    file = folder / "given.jsonl"
    file.write_bytes(b"".join(as_jsonl([rows], VOTES)))
    try:
        recompute(snapshot, "--export", str(file))
    except CommandError as error:
        if "does not agree" in str(error):
            return False
        raise
    return True


def published_payload(client, snapshot: str) -> dict:
    return client.get(f"/api/v1/leaderboard/snapshots/{snapshot}/").json()


@pytest.mark.slow
def test_every_snapshot_is_recomputed_after_changes(votes, capsys):
    publish()
    actions.retract(votes[10], reason=Reason.OPERATOR, by=None)
    actions.retract(votes[11], reason=Reason.MODERATION, by=None)
    relabel(votes[12], "maths", language="de")
    publish()
    actions.restore(votes[10], by=None)
    actions.restore(votes[50], by=None)
    relabel(votes[12], "coding", language="en")
    publish()
    scopes = set(AggregationRun.objects.published().values_list("scope", flat=True))
    assert scopes >= {"overall", "category:coding", "category:maths", "language:en", "language:fr", "language:de"}
    for snapshot in snapshots():
        recompute(snapshot)
    assert capsys.readouterr().out.count("agrees") == len(snapshots())


def test_claimed_votes_do_not_fail_recomputation(votes, capsys):
    """The former voters of claimed votes are not stored, so design effects are not compared; all else is."""
    published = publish()
    snapshot, effects = published.public_id, published.facts["context"]["coefficients"]
    assert [name for name, effect in effects.items() if effect["applied"]] == ["met_before"]
    assert published.facts["context"]["unidentified"] == ["reasoning"]
    with transaction.atomic():
        reassign_votes(Vote.objects.filter(voter__in=["visitor:1", "visitor:2", "visitor:3"]), voter="user:1")
    recompute(snapshot)
    assert "filed under another voter since" in capsys.readouterr().out
    later = publish().public_id
    recompute(later)
    assert "filed under another voter since" not in capsys.readouterr().out


def test_snapshot_elo_ignores_votes_cast_meanwhile(votes, monkeypatch):
    count_excluded = job._votes_excluded

    def vote_and_count_excluded(pending: PendingVotes) -> dict:
        cast(votes[1].model_left, votes[1].model_right, "left")
        return count_excluded(pending)

    monkeypatch.setattr(job, "_votes_excluded", vote_and_count_excluded)
    snapshot = publish()
    assert EloRating.objects.latest("last_order").last_order > snapshot.last_order
    recompute(snapshot.public_id)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_recomputation_from_files_uses_no_database(votes, tmp_path, client, ending, capsys):
    snapshot = publish("category:coding").public_id
    (tmp_path / "snapshot.json").write_text(json.dumps(published_payload(client, snapshot)))
    file = export(tmp_path, "--snapshot", snapshot, ending=ending)
    with CaptureQueriesContext(connection) as queries:
        recompute("--standings", str(tmp_path / "snapshot.json"), "--export", str(file))
    assert len(queries) == 0
    assert "agrees" in capsys.readouterr().out


def test_style_ranges_are_compared_where_published(votes, tmp_path, client):
    payload = published_payload(client, publish().public_id)
    file, standings = export(tmp_path, "--snapshot", payload["id"]), tmp_path / "snapshot.json"

    def recompute_with(**ranges: int | None) -> None:
        styled = [line for line in payload["results"] if line["style"]]
        assert len(styled) == 3
        for line in styled:
            line["style"] |= ranges
        standings.write_text(json.dumps(payload))
        recompute("--standings", str(standings), "--export", str(file))

    recompute_with()
    with pytest.raises(CommandError, match="style rank_worst was published as 9"):
        recompute_with(rank_worst=9)
    recompute_with(rank_best=None, rank_worst=None)  # published by an earlier version


def test_separating_feature_is_dropped_in_recomputation(capsys):
    cast_random_votes(only_winners_have_headings=True)
    snapshot = publish()
    assert snapshot.facts["style"]["dropped"] == snapshot.facts["style"]["separating"] == ["headings"]
    assert snapshot.facts["style"]["coefficients"]["tokens"]["value"]
    recompute(snapshot.public_id)
    assert "agrees" in capsys.readouterr().out


def test_changed_votes_are_detected(votes, tmp_path, capsys):
    snapshot = publish().public_id
    rows = list(read_rows(export(tmp_path, "--snapshot", snapshot)))
    counted = [index for index, row in enumerate(rows) if row.counts]
    index, other = counted[5], next(index for index in counted if rows[index].voter != rows[counted[5]].voter)
    row = rows[index]

    def changed(**facts: object) -> list[VoteRow]:
        return [*rows[:index], replace(row, **facts), *rows[index + 1 :]]

    forged = {
        "another choice": changed(choice="left" if row.choice == "right" else "right"),
        "sides swapped": changed(model_left=row.model_right, model_right=row.model_left),
        "one vote less": rows[:index] + rows[index + 1 :],
        "one vote twice": [*rows[: index + 1], *rows[index:]],
        "a vote excluded": changed(excluded_reason="operator", excluded_at=row.created_at),
        "an excluded vote less": [row for row in rows if row.counts],
        "a vote more": [*rows, rows[index]],
        "another voter": changed(voter=rows[other].voter),
        "another style": changed(style=rows[other].style),
        "another wait": changed(context=replace(row.context, left=replace(row.context.left, first_token_ms=9_000))),
        "another order": [*rows[:index], rows[index + 1], row, *rows[index + 2 :]],
        "another board's": changed(board="side-by-side"),
        "another origin": changed(origin="router"),
    }
    assert [name for name, forged_rows in forged.items() if agrees(snapshot, forged_rows, tmp_path)] == []
    assert agrees(snapshot, rows, tmp_path)


def test_changed_numbers_are_detected(votes, tmp_path, client, capsys):
    snapshot = publish().public_id
    payload = published_payload(client, snapshot)
    file = export(tmp_path, "--snapshot", snapshot)
    for name, change in [
        ("score", 2e-6),
        ("ci_low", -1.0),
        ("rank", 1),
        ("votes", 1),
        ("elo", 0.5),
        ("rank_worst", 1),
        ("both_bad_rate", 0.1),
        ("both_bad_low", -1e-5),
        ("both_bad_high", 1e-5),
    ]:
        forged = json.loads(json.dumps(payload))
        forged["results"][0][name] += change
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        with pytest.raises(CommandError, match=rf"gold: {name} "):
            recompute("--standings", str(tmp_path / "forged.json"), "--export", str(file))
    payload["facts"]["agreement"]["scores"]["gold"] += 2e-6
    (tmp_path / "forged.json").write_text(json.dumps(payload))
    with pytest.raises(CommandError, match="agreement scores gold"):
        recompute("--standings", str(tmp_path / "forged.json"), "--export", str(file))
    forged = {**payload, "results": payload["results"][1:]}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    with pytest.raises(CommandError, match="gold"):
        recompute("--standings", str(tmp_path / "forged.json"), "--export", str(file))


def test_copied_both_bad_interval_is_checked_for_consistency(votes, tmp_path, client, monkeypatch):
    publish()
    monkeypatch.setattr(fit_boards, "THOROUGH_BELOW_VOTES", 0)
    cast(votes[1].model_left, votes[1].model_right, "left")
    payload = published_payload(client, publish().public_id)
    assert payload["facts"]["design_effects_of"] != payload["id"]
    recompute(payload["id"])
    payload["results"][0]["both_bad_high"] += 1e-5
    (tmp_path / "forged.json").write_text(json.dumps(payload))
    file = export(tmp_path, "--snapshot", payload["id"])
    with pytest.raises(CommandError, match="gold: both_bad_"):
        recompute("--standings", str(tmp_path / "forged.json"), "--export", str(file))


def test_failed_recomputation_explains(votes, tmp_path):
    snapshot = publish().public_id
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    for options, sentence in [
        (["unheard-of"], "no such snapshot"),
        ([], "Which snapshot"),
        (["--standings", str(broken)], "--export"),
        (["--standings", str(broken), "--export", str(broken)], "is not a snapshot"),
        ([snapshot, "--export", str(tmp_path / "none.jsonl")], "cannot be read"),
        ([snapshot, "--export", str(broken)], "ends in"),
    ]:
        with pytest.raises(CommandError, match=sentence):
            recompute(*options)
