"""Votes on pairs that auto mode chose count on the board `auto` only."""

import csv
import random
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from msgspec.structs import replace

from battles.actions import cast_vote, reassign_votes
from battles.labels.duplicates import excess_duplicates
from battles.models import Battle, Vote
from common.tables.writers import as_jsonl
from leaderboard import actions
from leaderboard.boards.reveal import battle_places
from leaderboard.counting import tallies
from leaderboard.counting.live_elo import replay_elo
from leaderboard.counting.new_votes import NewVotes
from leaderboard.exports.columns import VOTES
from leaderboard.exports.readers import read_rows
from leaderboard.models import AggregationRun, AnomalyReview, EloRating, PairTally, SamplingPlan, VoterPairTally
from leaderboard.rating.outcomes import OUTCOMES
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.public_data.exports import export, publish, rows
from tests.leaderboard.tally_checks import aggregate, aggregate_and_read_results, assert_tallies_match_votes
from tests.leaderboard.vote_factory import ballot, cast, cast_all, contestants

pytestmark = pytest.mark.django_db


def boards_without_auto() -> dict[str, Any]:
    """Return everything that an aggregation computes, but for the board `auto`."""
    results: Any = aggregate_and_read_results()
    overall = AggregationRun.objects.snapshots("overall")[0]
    results["checksums"].pop("auto", None)
    return {
        **results,
        "pairs": {row for row in results["pairs"] if row[0] != "auto"},
        "standings": {row for row in results["standings"] if row[0] != "auto"},
        "facts": {name: value for name, value in overall.facts.items() if not name.endswith(("_of", "_at"))},
        "excluded": overall.votes_excluded,
        "plan": SamplingPlan.objects.values_list("contestants", "gains").get(),
    }


def random_ballots(models: list[LanguageModel], number: int, **facts: object) -> list[Vote]:
    rng = random.Random(number)
    return [
        ballot(
            *rng.sample(models, 2), rng.choice(OUTCOMES), voter=f"user:{1_000_000 + rng.randrange(9)}",
            categories=rng.choice([[], ["coding"]]), language=rng.choice(["en", "fr"]),
            excluded="incomplete" if rng.random() < 0.1 else "", **facts,
        )
        for _ in range(number)
    ]  # fmt: skip


@pytest.mark.slow
def test_router_votes_leave_all_other_boards_untouched(settings):
    settings.ARENA_PAIR_WEIGHTS = "leaderboard.aggregation.pair_weights.pair_weights"
    models = contestants("a", "b", "c", "d")
    with transaction.atomic():
        cast_all(random_ballots(models, 120))
        alone = boards_without_auto()
        transaction.set_rollback(True)
    drawn, routed = random_ballots(models, 120), random_ballots(models, 90, origin="router")
    cast_all([*drawn[:60], *routed[:50], *drawn[60:], *routed[50:]])
    assert boards_without_auto() == alone
    auto = AggregationRun.objects.snapshots("auto")[0]
    assert auto.votes_counted + sum(auto.votes_excluded.values()) == 90
    assert sum(PairTally.objects.filter(scope="auto").values_list("n", flat=True)) == auto.votes_counted
    assert_tallies_match_votes()
    before = dict(EloRating.objects.values_list("model", "rating"))
    replay_elo()
    assert dict(EloRating.objects.values_list("model", "rating")) == pytest.approx(before)


@pytest.fixture
def voted() -> list[LanguageModel]:
    """Three votes on drawn pairs, seven for the other model on pairs that auto mode chose."""
    first, second = contestants("first", "second")
    cast_all([ballot(first, second, "left", categories=["coding"], language="fr") for _ in range(3)])
    cast_all([ballot(first, second, "right", origin="router", categories=["coding"], language="fr") for _ in range(7)])
    return [first, second]


def counted_by_board() -> dict[str, int]:
    counted: dict[str, int] = {}
    for scope, n in PairTally.objects.filter(n__gt=0).values_list("scope", "n"):
        counted[scope] = counted.get(scope, 0) + n
    return counted


OTHERS = {"overall": 3, "category:coding": 3, "language:fr": 3}


def test_auto_board_is_published_and_recomputed(voted, client: Client, tmp_path: Path):
    assert NewVotes.read().total("auto") == 7
    aggregate()
    assert counted_by_board() == {**OTHERS, "auto": 7}
    board = client.get("/api/v1/leaderboard/?board=auto").json()
    assert (board["votes_counted"], board["title"]) == (7, "Auto mode")
    assert board["description"] == "blind votes on pairs that auto mode chose for the prompt"
    assert {line["model"]["id"]: line["elo"] for line in board["results"]} == {"first": None, "second": None}
    assert max(board["results"], key=lambda line: line["score"])["model"]["id"] == "second"
    listed = client.get("/api/v1/boards/").json()
    assert [line["board"] for line in listed["results"]] == ["overall", "auto", "category:coding", "language:fr"]
    for scope in ("auto", "overall"):
        call_command("recompute_snapshot", AggregationRun.objects.snapshots(scope)[0].public_id)
    exported = rows(tmp_path, "--snapshot", board["snapshot"])
    assert {(row.board, row.origin) for row in exported} == {("auto", "router")}
    assert {(row.board, row.origin) for row in rows(tmp_path)} == {("overall", "draw")}
    page = client.get("/leaderboard/?board=auto", headers={"HX-Request": "true"}).text
    assert "auto mode chose which models met" in page
    assert client.get("/leaderboard/models/first/").text.count("Auto mode") == 1


def test_router_vote_is_excluded_restored_and_renamed(voted):
    aggregate()
    vote = Vote.objects.filter(origin="router")[0]
    actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=None)
    assert counted_by_board() == {**OTHERS, "auto": 6}
    aggregate()
    assert AggregationRun.objects.snapshots("auto")[0].votes_excluded == {"operator": 1}
    actions.restore(Vote.objects.get(pk=vote.pk), by=None)
    reassign_votes(Vote.objects.filter(pk=vote.pk), voter="user:7")
    assert counted_by_board() == {**OTHERS, "auto": 7}
    assert not VoterPairTally.objects.filter(voter="user:7").exists()
    assert tallies.rebuild() == 0


def test_forged_origin_is_detected(voted, tmp_path: Path, client: Client):
    snapshot = publish("auto").public_id
    (tmp_path / "snapshot.json").write_bytes(client.get(f"/api/v1/leaderboard/snapshots/{snapshot}/").content)
    exported = list(read_rows(export(tmp_path, "--snapshot", snapshot)))

    def recompute(origin: str) -> None:
        forged = tmp_path / f"{origin}.jsonl"
        forged.write_bytes(b"".join(as_jsonl([[replace(row, origin=origin) for row in exported]], VOTES)))
        call_command("recompute_snapshot", standings=tmp_path / "snapshot.json", export=forged)

    recompute("router")
    with pytest.raises(CommandError):
        recompute("draw")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_origin_is_the_last_column_of_exports(voted, tmp_path: Path, ending: str):
    snapshot = publish("auto").public_id
    file = export(tmp_path, "--snapshot", snapshot, ending=ending)
    assert {row.origin for row in read_rows(file)} == {"router"}
    if ending == "csv":
        assert next(csv.reader(file.open()))[-1] == "origin"


def test_earlier_export_without_origin_is_read(voted, tmp_path: Path, client: Client):
    snapshot = publish().public_id
    (tmp_path / "snapshot.json").write_bytes(client.get(f"/api/v1/leaderboard/snapshots/{snapshot}/").content)
    lines = export(tmp_path, "--snapshot", snapshot).read_text()
    earlier = tmp_path / "earlier.jsonl"
    earlier.write_text(lines.replace(',"origin":"draw"', ""))
    assert "origin" not in earlier.read_text()
    table = list(csv.reader(export(tmp_path, "--snapshot", snapshot, ending="csv").open()))
    with (tmp_path / "earlier.csv").open("w", newline="") as file:
        csv.writer(file).writerows(row[:-1] for row in table)
    for name in ("earlier.jsonl", "earlier.csv"):
        call_command("recompute_snapshot", standings=tmp_path / "snapshot.json", export=tmp_path / name)


def test_vote_copies_origin_and_sql_cannot_change_it():
    first, second = contestants("first", "second")
    actor = make.member()
    battle = make.answered_battle(first, second, actor=actor)
    Battle.objects.filter(pk=battle.pk).update(origin=Battle.Origin.ROUTER)
    vote = cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.origin, EloRating.objects.count()) == ("router", 0)
    with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE battles_vote SET origin = 'draw'")
    [own] = make.browser(actor).get("/api/v1/me/votes/").json()["results"]
    assert (own["mode"], own["origin"]) == ("blind", "router")
    assert "auto mode" in make.browser(actor).get("/votes/").text
    assert battle_places([]) == {}


def test_repeated_prompts_are_searched_by_origin():
    first, second = contestants("first", "second")
    cast_all([ballot(first, second, "left", prompt_digest="rare", origin=origin) for origin in ("draw", "router")])
    drawn = cast_all([ballot(first, second, "left", prompt_digest="often") for _ in range(20)])
    assert not excess_duplicates().exists()
    routed = cast_all([ballot(first, second, "left", prompt_digest="often", origin="router") for _ in range(27)])
    assert [vote.order for vote in excess_duplicates().order_by("order")] == [vote.order for vote in routed[25:]]
    assert drawn[0].order < routed[0].order


def test_router_votes_with_model_of_reviewed_group_count():
    gold, silver = contestants("gold", "silver")
    held = cast(gold, silver, "left", voter="visitor:1")
    AnomalyReview.objects.create(
        group="newcomers",
        first_day=date(2026, 1, 1),
        model=gold,
        orders=[held.order],
        state="excluded",
        last_order=1,
        log_e=9,
        crossed=1,
    )
    cast(gold, silver, "left", voter="visitor:1", origin="router")
    drawn = cast(gold, silver, "left", voter="visitor:1")
    aggregate()
    assert list(Vote.objects.exclude(excluded_reason="").order_by("order").values_list("order", flat=True)) == [
        held.order,
        drawn.order,
    ]
