import re

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from battles.models import Battle, Call, Vote
from leaderboard.rating.differences import (
    expected_share,
    growth_until_significant,
    middle_half_of_growth,
    observed_share,
    quasi_variances,
)
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def three():
    gold, silver, bronze = contestants("gold", "silver", "bronze")
    for vote in cast_many(gold, silver, left=30, right=12, tie=4):
        Vote.objects.filter(pk=vote.pk).update(categories=["coding"])
    cast_many(silver, gold, left=2, both_bad=3)
    cast_many(silver, bronze, left=30, right=20)
    aggregate()
    return gold, silver, bronze


@pytest.mark.slow
def test_model_page_shows_boards_opponents_calls_and_tags(client, three):
    gold, silver, _ = three
    LanguageModel.objects.create(
        provider=gold.provider,
        upstream_name="x",
        slug="gold-v2",
        name="Gold",
        family="gold",
        version=2,
        status="active",
    )
    battle = make.answered_battle(gold, silver)
    Battle.objects.filter(pk=battle.pk).update(mode=Battle.Mode.SIDE_BY_SIDE)
    answer = battle.turns.get().answers.get(side__model=gold)
    for fence, (state, ms) in enumerate([("done", 100), ("done", 300), ("done", 200), ("failed", None)]):
        Call.objects.create(
            answer=answer, model=gold, attempt=1, fence=fence, state=state, first_token_ms=ms, total_ms=ms,
            cost="0.25" if ms else None, finish_reason="content_filter" if ms == 300 else "",
        )  # fmt: skip
    Vote.objects.filter(pk=Vote.objects.first().pk).update(tags={"left": ["clear"], "right": ["wrong"]})

    payload = client.get("/api/v1/leaderboard/models/gold/").json()
    assert payload["model"]["id"] == "gold"
    boards = {line["board"]: line["votes"] for line in payload["standings"]}
    assert boards == {"overall": 51, "category:coding": 46, "language:und": 51}
    [line] = payload["opponents"]
    assert (line["model"]["id"], line["votes"], line["wins"], line["losses"], line["ties"], line["both_bad"]) == (
        "silver", 51, 30, 14, 4, 3,
    )  # fmt: skip
    assert line["share"] == pytest.approx(33.5 / 51)
    calls = payload["calls"]
    assert (calls["calls"], calls["failed"], calls["refused"], calls["mean_cost"]) == (4, 1, 1, "0.25")
    assert (calls["first_token_p50_ms"], calls["first_token_p95_ms"]) == (200, 290)
    assert payload["tags"] == [{"tag": "clear", "votes": 1}]
    assert [version["slug"] for version in payload["versions"]] == ["gold", "gold-v2"]

    page = client.get("/leaderboard/models/gold/").content.decode()
    score = next(round(line["score"]) for line in payload["standings"] if line["board"] == "overall")
    assert re.search(rf"<dt>Score</dt>\s*<dd>{score} <small>\(\d+–\d+\)</small></dd>", page)
    for shown in (
        "Score over time",
        "On every board",
        "Against others",
        "/leaderboard/compare/gold/silver/",
        "gold-v2",
    ):
        assert shown in page


def test_model_page_without_votes_shows_collecting(client):
    contestants("early")
    page = client.get("/leaderboard/models/early/").content.decode()
    assert "Collecting votes" in page
    assert "plotly" not in page


@pytest.mark.slow
def test_draft_and_unknown_models_return_404(client, three):
    make.model(slug="secret", status="draft")
    for slug in ("secret", "unknown"):
        assert client.get(f"/leaderboard/models/{slug}/").status_code == 404
        assert client.get(f"/leaderboard/compare/gold/{slug}/").status_code == 404
        missing = client.get(f"/api/v1/leaderboard/models/{slug}/")
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


@pytest.mark.slow
def test_head_to_head_adds_both_orders_of_sides(client, three):
    pair = client.get("/api/v1/leaderboard/head-to-head/", {"a": "silver", "b": "gold"}).json()
    assert [pair[name] for name in ("votes", "wins_a", "wins_b", "ties", "both_bad")] == [51, 14, 30, 4, 3]
    observed, expected = pair["observed"], pair["expected"]
    assert observed["share_a"] == pytest.approx(17.5 / 51)
    assert observed["ci_low"] < observed["share_a"] < observed["ci_high"]
    assert expected["ci_low"] < expected["share_a"] < expected["ci_high"] < 0.5
    assert pair["separation"]["apart"] is True
    assert pair["separation"]["more_votes"] == 0
    assert {line["board"]: line["votes"] for line in pair["boards"]}["category:coding"] == 46
    page = client.get("/leaderboard/compare/silver/gold/").content.decode()
    assert "The difference is statistically significant" in page


@pytest.mark.slow
def test_inseparable_models_show_votes_needed(client, three):
    gold, _silver, bronze = three
    cast_many(bronze, gold, left=1)
    aggregate()
    pair = client.get("/api/v1/leaderboard/head-to-head/", {"a": "silver", "b": "bronze"}).json()
    assert pair["separation"]["apart"] is False
    needed = [pair["separation"][name] for name in ("more_votes_low", "more_votes", "more_votes_high")]
    assert 0 <= needed[0] < needed[1] < needed[2]
    assert (
        f"about {pair['separation']['more_votes']:,} more votes"
        in client.get("/leaderboard/compare/silver/bronze/").content.decode()
    )


def test_half_of_possible_differences_need_votes_in_between():
    rng = np.random.default_rng(3)
    for difference, variance in ((0.0, 100.0), (10.0, 100.0), (-15.0, 100.0)):
        low, high = middle_half_of_growth(difference, variance)
        needed = [growth_until_significant(d, variance) for d in rng.normal(difference, variance**0.5, 20_000)]
        assert np.mean([low <= growth <= high for growth in needed]) == pytest.approx(0.5, abs=0.015)


@pytest.mark.slow
def test_models_that_never_met_have_no_observed_share(client, three):
    pair = client.get("/api/v1/leaderboard/head-to-head/", {"a": "gold", "b": "bronze"}).json()
    assert (pair["votes"], pair["observed"]) == (0, None)
    assert pair["expected"]["share_a"] > 0.5
    assert "None" not in client.get("/leaderboard/compare/gold/bronze/").content.decode()


def test_compare_form_redirects_to_pair(client, three):
    assert client.get("/leaderboard/compare/").status_code == 200
    response = client.get("/leaderboard/compare/", {"a": "gold", "b": "silver"})
    assert (response.status_code, response["Location"]) == (302, "/leaderboard/compare/gold/silver/")
    assert (
        "Choose two different models"
        in client.get("/leaderboard/compare/", {"a": "gold", "b": "gold"}).content.decode()
    )
    refused = client.get("/api/v1/leaderboard/head-to-head/", {"a": "gold", "b": "gold"})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")


@pytest.mark.slow
@pytest.mark.parametrize("url", ["/leaderboard/models/m0/", "/leaderboard/compare/m0/m1/"])
def test_model_and_compare_pages_have_fixed_query_counts(client, url):
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(url).status_code == 200
        return len(captured)

    first, second = contestants("m0", "m1")
    cast_many(first, second, left=6, right=6)
    aggregate()
    small = count_queries()
    for other in contestants(*[f"n{number}" for number in range(8)]):
        for vote in cast_many(first, other, left=3, right=3):
            Vote.objects.filter(pk=vote.pk).update(categories=["coding", "maths"], language="de")
    aggregate()
    assert count_queries() <= small + 1  # prices of further opponents


def test_variances_of_two_models_sum_to_their_difference():
    assert quasi_variances([9.0, 9.0]) == [18.0, 18.0]
    assert sum(quasi_variances([4.0, 9.0])) == 26.0


def test_even_schedule_recovers_true_variances():
    true = [4.0, 9.0, 16.0, 25.0]
    count, total = len(true), sum(true)
    published = [q * (1 - 2 / count) + total / count**2 for q in true]
    assert quasi_variances(published) == pytest.approx(true)


def test_shares_and_growth_match_known_values():
    even = expected_share(0, 100)
    assert even.share == 0.5
    assert even.low + even.high == pytest.approx(1)
    assert observed_share(0, 10).low == 0
    assert observed_share(10, 10).high == pytest.approx(1)
    assert (observed_share(5, 10).low, observed_share(5, 10).high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert growth_until_significant(1.959963984540054, 1) == pytest.approx(1)
    assert growth_until_significant(0, 1) == float("inf")
