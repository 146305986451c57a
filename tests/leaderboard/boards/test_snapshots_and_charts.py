import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from battles.models import Vote
from leaderboard.boards.facts import describe_facts, sampling_shares_by_name
from leaderboard.models import AggregationRun
from leaderboard.models.listed import listed_boards
from models_registry.models import LanguageModel, Price, Provider
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast, cast_many, contestants
from tests.pages import compact

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot() -> AggregationRun:
    gold, silver, bronze = contestants("gold", "silver", "bronze")
    cast_many(gold, silver, left=20, right=15, tie=2)
    cast_many(silver, bronze, left=20, right=12)
    cast_many(bronze, gold, left=6, right=9)
    cast(gold, bronze, "left", excluded=Vote.ExcludedReason.MODERATION)
    for model, price in ((gold, "10"), (silver, "2"), (bronze, "5")):
        Price.objects.create(model=model, input_per_million="1", output_per_million=price)
    return aggregate()


def data(page: str, name: str) -> list:
    return json.loads(re.search(f'id="data-{name}" type="application/json">(.*?)</script>', page)[1])


def test_snapshot_page_shows_inputs_and_verification(client, snapshot, settings):
    settings.ARENA_PUBLISH_VOTES = True
    page = compact(client.get(f"/leaderboard/snapshots/{snapshot.public_id}/").content.decode())
    for shown in (
        snapshot.tallies_checksum, snapshot.parameters_hash, snapshot.method, "established_from_votes", "moderation 1",
        "recompute_snapshot --standings", f"/api/v1/exports/votes.jsonl?snapshot={snapshot.public_id}",
        "Dispersion φ", "Points for being answer A", "Gold", "Standard deviation of agreement",
        "Voters weighted by how well they agree",
    ):  # fmt: skip
        assert shown in page
    assert client.get("/leaderboard/snapshots/unknown/").status_code == 404


@pytest.mark.slow
def test_snapshot_page_does_not_change_later(client, snapshot):
    gold, silver, _ = LanguageModel.objects.order_by("pk")[:3]
    cast_many(silver, gold, left=40)
    aggregate()
    page = compact(client.get(f"/leaderboard/snapshots/{snapshot.public_id}/").content.decode())
    assert page.index("<bdi>Gold") < page.index("<bdi>Silver")
    board = client.get("/leaderboard/").content.decode()
    assert board.index("<bdi>Silver") < board.index("<bdi>Gold")


def test_snapshot_list_can_be_filtered_by_board(client, snapshot):
    with CaptureQueriesContext(connection) as queries:
        page = client.get("/leaderboard/snapshots/").content.decode()
    assert page.count("/leaderboard/snapshots/") >= 2
    assert f"/leaderboard/snapshots/{snapshot.public_id}/" in page
    assert len(queries) <= 6
    french = client.get("/leaderboard/snapshots/", {"board": "language:fr"}).content.decode()
    assert snapshot.public_id not in french
    assert "No snapshot yet" in french


def test_facts_use_names_and_omit_unknown_values():
    facts = {
        "phi": [0.5], "side_bias": None, "misfit": {"chi2": 12.0, "df": 10, "ratio": 1.2},
        "flips_first": {"votes": 1234, "winner": "b", "loser": "a", "first": "b"},
        "drops_first": {"votes": 1240, "first": "b", "ballots": []},
        "forecast": {
            "held_out": 1500,
            "share_loss": {"ties_half": 0.61234, "ties_dropped": None, "tie_factors": 0.61234},
            "outcome_loss": {"one_factor": 0.95, "tie_factors": 0.94},
            "tie_factors": {"a": 1.2, "b": 1.5},
        },
        "style": {
            "dropped": ["lists", "headings"],
            "separating": ["headings"],
            "coefficients": {
                "lists": {"value": 0, "low": 0, "high": 0}, "headings": {"value": 0, "low": 0, "high": 0},
                "tokens": {"value": -0.25, "low": -0.5, "high": 0.126},
            },
        },
        "context": {
            "unidentified": ["files", "reasoning"],
            "coefficients": {
                "met_before": {"value": 0.5, "low": 0.2, "high": 0.8, "applied": True},
                "first_token": {"value": -0.1, "low": -0.3, "high": 0.1, "applied": False},
            },
        },
    }  # fmt: skip
    texts = {fact.name: (fact.value, fact.hint) for fact in describe_facts(facts, {"a": "Ada", "b": "Bob"})}
    assert texts["Misfit χ²/df"][0] == "1.20"
    assert texts["Votes that would change the first place"] == (
        "1,234",
        "all for Bob against Ada; then Bob would be first",
    )
    assert texts["Votes that hold the first place"][0] == "1,240"
    assert texts["Held-out log-loss of the share, ties as halves"][0] == "0.6123"
    assert "Held-out log-loss of the share, ties left out of the fit" not in texts
    assert texts["Tie factors"][0] == "1.20 to 1.50"
    assert texts["Longer answers"][0] == "−0.250 (−0.500 to 0.126)"
    assert "More lists" not in texts
    assert texts["More headings"][0] == "left out"
    assert texts["Model met before in the session"][0] == "0.500 (0.200 to 0.800)"
    assert texts["Model met before in the session"][1].endswith("in the fit of style-controlled scores")
    assert texts["Longer wait for the first token"][1].endswith("within 3 standard errors, so not in the fit")
    assert texts["Files attached"][0] == "not estimated"
    assert describe_facts({}, {}) == []


def test_snapshot_page_shows_sampling_shares(client):
    names = {"a": "Ada"}
    facts = {"sampling_shares": {"b": 0.25, "a": 1.0}}
    assert sampling_shares_by_name(facts, names) == [("Ada", "100.0 %"), ("b", "25.0 %")]
    ada, bob = contestants("ada", "bob")
    Provider.objects.update(is_answering=True)
    cast_many(ada, bob, left=6)
    run = aggregate()
    page = client.get(f"/leaderboard/snapshots/{run.public_id}/").content.decode()
    assert "How often each model is chosen" in page
    assert f"{run.public_id}/#drawn" in client.get("/leaderboard/").content.decode()


@pytest.mark.slow
def test_charts_page_has_data_and_tables(client, snapshot):
    aggregate()
    page = client.get("/leaderboard/charts/").content.decode()
    assert [point["id"] for point in data(page, "intervals")] == ["gold", "silver", "bronze"]
    assert [(point["rank"], point["range"]) for point in data(page, "intervals")] == [("1", "1–3")] * 3
    assert "Grey points" not in page
    rows = data(page, "matrix")["rows"]
    assert rows[0]["cells"][0] is None
    assert (rows[0]["cells"][1]["share"], rows[0]["cells"][1]["votes"]) == (21 / 37, 37)
    assert (rows[1]["cells"][0]["share"], rows[0]["cells"][2]["votes"]) == (16 / 37, 15)
    assert [len(series["points"]) for series in data(page, "history")] == [2, 2, 2]
    # Cheapest first; bronze costs more than silver and is worse.
    assert [(point["id"], point["best_for_its_price"]) for point in data(page, "prices")] == [
        ("silver", True), ("bronze", False), ("gold", True),
    ]  # fmt: skip
    assert page.count("<details>") == page.count('class="plot"') == 5
    assert '<a href="/leaderboard/compare/gold/silver/">57 %</a>' in page


def test_charts_of_empty_board_show_hint(client):
    page = client.get("/leaderboard/charts/").content.decode()
    assert "Nothing to draw yet" in page
    assert "data-chart" not in page


@pytest.mark.slow
def test_charts_have_fixed_query_count(client, snapshot):
    listed_boards()  # cached for seconds

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get("/leaderboard/charts/")
        return len(captured)

    small = count_queries()
    hub = LanguageModel.objects.get(slug="gold")
    for other in contestants(*[f"n{number}" for number in range(12)]):
        cast_many(hub, other, left=3, right=3)
    aggregate()
    assert count_queries() == small <= 14


@pytest.mark.slow
def test_api_returns_history_and_matrix(client, snapshot):
    newer = aggregate()
    history = client.get("/api/v1/leaderboard/history/", {"models": "gold,bronze"}).json()
    assert [series["model"] for series in history["series"]] == ["gold", "bronze"]
    assert [point["snapshot"] for point in history["series"][0]["points"]] == [snapshot.public_id, newer.public_id]
    assert client.get("/api/v1/leaderboard/history/").status_code == 400
    matrix = client.get("/api/v1/leaderboard/matrix/").json()
    assert (matrix["snapshot"], matrix["models"]) == (newer.public_id, ["bronze", "gold", "silver"])
    counts = {frozenset((pair["a"], pair["b"])): pair["votes"] for pair in matrix["pairs"]}
    assert counts == {
        frozenset(("gold", "silver")): 37,
        frozenset(("silver", "bronze")): 32,
        frozenset(("gold", "bronze")): 15,
    }
    assert client.get("/api/v1/leaderboard/matrix/", {"board": "category:kittens"}).status_code == 404


def test_history_is_thinned_and_keeps_newest_snapshot(client):
    now = timezone.now()
    [model] = contestants("gold")
    runs = AggregationRun.objects.bulk_create(
        AggregationRun(
            slot=str(number), state="done", method="m", started_at=now, duration_ms=1,
            finished_at=now - timezone.timedelta(hours=200 - number),
        )
        for number in range(200)
    )  # fmt: skip
    counts = {"votes": 9, "wins": 9, "losses": 0, "ties": 0, "both_bad": 0, "elo": 1500, "preliminary": False}
    for run in runs:
        run.standings.create(model=model, score=1500, rank=1, rank_best=1, rank_worst=1, **counts)
    [series] = client.get("/api/v1/leaderboard/history/", {"models": "gold"}).json()["series"]
    assert len(series["points"]) == 50
    assert series["points"][-1]["snapshot"] == runs[-1].public_id
