import csv
import re
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from battles.models import Battle, Call
from common.tables.cells import escape_formula
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting import method
from leaderboard.models.listed import listed_boards
from models_registry.models import LanguageModel, Price
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast_all, cast_many, contestants

pytestmark = pytest.mark.django_db

API = "/api/v1/leaderboard/"


@pytest.fixture
def published():
    """Three established models, a preliminary one, and one with two votes."""
    gold, silver, bronze, newcomer, guest = contestants("gold", "silver", "bronze", "newcomer", "guest")
    cast_many(gold, silver, left=30, right=10, tie=2)
    cast_many(silver, bronze, left=30, right=10, both_bad=3)
    cast_many(newcomer, bronze, left=3, right=3)
    cast_many(guest, gold, left=2)
    LanguageModel.objects.filter(pk=gold.pk).update(organization="Mint", license="Apache-2.0", license_kind="open")
    LanguageModel.objects.filter(pk=silver.pk).update(organization="Forge", status="retired")
    Price.objects.create(model=gold, input_per_million="0.5", output_per_million="10")
    Price.objects.create(model=silver, input_per_million="0.5", output_per_million="9")
    return aggregate()


@pytest.mark.slow
def test_filters_and_sorting_move_no_tier(client, published):
    of_all = {line["model"]["id"]: line["tier"] for line in client.get(API).json()["results"]}
    narrowed = client.get(API, {"organization": "Forge"}).json()["results"]
    assert [(line["model"]["id"], line["tier"]) for line in narrowed] == [("silver", of_all["silver"])]
    by_tier = client.get(API, {"sort_by": "tier", "order": "desc"}).json()["results"]
    assert [(line["model"]["id"], line["tier"]) for line in by_tier] == [
        ("bronze", 3), ("silver", 2), ("gold", 1), ("newcomer", None),
    ]  # fmt: skip


def slugs(board) -> list[str]:
    return [line["model"]["id"] for line in board["results"]]


def test_api_returns_newest_snapshot(client, published):
    board = client.get(API).json()
    assert list(board) == [
        "board", "category", "snapshot", "computed_at", "next_due_at", "votes_counted", "votes_excluded", "models",
        "method", "results", "collecting", "title", "description", "style_control", "judges", "facts", "live",
    ]  # fmt: skip
    assert (board["board"], board["category"], board["snapshot"]) == ("overall", None, published.public_id)
    assert (board["votes_counted"], board["votes_excluded"], board["models"]) == (93, {}, 4)
    assert board["method"]["name"] == method.NAME
    assert slugs(board) == ["gold", "silver", "newcomer", "bronze"]
    gold = board["results"][0]
    assert list(gold) == [
        "rank", "rank_best", "rank_worst", "tier", "model", "score", "ci_low", "ci_high", "elo", "votes", "live_votes",
        "wins", "losses", "ties", "both_bad", "both_bad_rate", "both_bad_low", "both_bad_high", "win_rate",
        "preliminary", "median_first_token_ms", "group", "design_effect", "agreement_score", "style",
    ]  # fmt: skip
    assert (gold["rank"], gold["rank_best"], gold["rank_worst"]) == (1, 1, 1)
    assert (gold["votes"], gold["wins"], gold["losses"], gold["ties"], gold["both_bad"]) == (44, 30, 12, 2, 0)
    assert gold["win_rate"] == 31 / 44
    assert [(line["tier"], round(line["both_bad_rate"], 2)) for line in board["results"]] == [
        (1, 0), (2, 0.04), (None, 0), (3, 0.06),
    ]  # fmt: skip
    bronze = board["results"][3]
    assert 0 < bronze["both_bad_low"] < bronze["both_bad_rate"] < bronze["both_bad_high"] < 0.2
    assert gold["ci_low"] < gold["score"] < gold["ci_high"]
    assert [line["preliminary"] for line in board["results"]] == [False, False, True, False]
    assert [line["agreement_score"] is None for line in board["results"]] == [False, False, True, False]
    assert board["results"][1]["model"]["status"] == "retired"
    assert [(line["model"]["id"], line["votes"]) for line in board["collecting"]] == [("guest", 2)]


def test_board_before_first_snapshot_shows_next_due_time(client):
    contestants("early")
    board = client.get(API).json()
    assert (board["snapshot"], board["computed_at"], board["results"], board["models"]) == (None, None, [], 0)
    assert board["next_due_at"] is not None
    assert [(line["model"]["id"], line["votes"]) for line in board["collecting"]] == [("early", 0)]


def live(board) -> dict[str, tuple[int, int | None, int | None]]:
    return {
        line["model"]["id"]: (line["votes"], line["live_votes"], line["elo"] and round(line["elo"]))
        for line in board["results"] + board["collecting"]
    }


def test_first_votes_are_shown_before_any_run(client):
    cast_many(*contestants("first", "second"), left=1)
    board = client.get(API).json()
    assert live(board) == {"first": (0, 1, 1516), "second": (0, 1, 1484)}
    assert board["live"] == {
        "counted_until": 0, "last_vote": 1, "new_votes": 1, "next_run_votes": 10, "is_run_due": True,
    }  # fmt: skip
    page = " ".join(client.get(reverse("leaderboard:board")).content.decode().split())
    assert "Next run: within a minute." in page
    assert '<span data-live="votes">1</span> <span class="hint"> of 5' in page
    assert f'<a href="{reverse("leaderboard:model", args=["first"])}">' in page
    model = client.get(reverse("leaderboard:model", args=["first"])).content.decode()
    assert "<dt>Live Elo</dt><dd>1516</dd>" in model


@pytest.mark.slow
def test_votes_since_the_run_are_shown_beside_it(client, published):
    gold, silver, guest = (LanguageModel.objects.get(slug=slug) for slug in ("gold", "silver", "guest"))
    before, late = live(client.get(API).json()), contestants("late")[0]
    cast_many(guest, gold, left=2)
    cast_many(late, silver, right=1)
    cast_all([ballot(gold, silver, "left", mode="side_by_side"), ballot(gold, silver, "left", excluded="operator")])
    board = client.get(API).json()
    assert {slug: line[:2] for slug, line in live(board).items()} == {
        "gold": (44, 46), "silver": (85, 86), "newcomer": (6, 6), "bronze": (49, 49), "guest": (2, 4), "late": (0, 1),
    }  # fmt: skip
    assert board["live"]["new_votes"] == 3
    assert {slug for slug, line in live(board).items() if line[2] != before.get(slug, (0, 0, 0))[2]} == {
        "gold", "silver", "guest", "late",
    }  # fmt: skip
    assert (
        '<span class="new-votes" data-live="new">+2</span>' in client.get(reverse("leaderboard:board")).content.decode()
    )
    aggregate()
    assert live(client.get(API).json())["gold"][:2] == (46, 46)
    assert live(client.get(f"{API}snapshots/{published.public_id}/").json())["gold"][:2] == (44, None)


def test_model_added_after_snapshot_is_collecting_votes(client, published):
    contestants("late")
    make.model(slug="draft", status="draft")
    collecting = client.get(API).json()["collecting"]
    assert [(line["model"]["id"], line["votes"]) for line in collecting] == [("guest", 2), ("late", 0)]


ORDERS = {
    "sort_by=score&order=asc": ["bronze", "newcomer", "silver", "gold"],
    "sort_by=name&order=asc": ["bronze", "gold", "newcomer", "silver"],
    "sort_by=votes": ["silver", "bronze", "gold", "newcomer"],
    # Prices sort as numbers; models without one are last in both directions.
    "sort_by=price&order=desc": ["gold", "silver", "newcomer", "bronze"],
    "sort_by=price&order=asc": ["silver", "gold", "newcomer", "bronze"],
    "sort_by=organization&order=asc": ["silver", "gold", "newcomer", "bronze"],
    "search=GOL": ["gold"],
    "search=forge": ["silver"],
    "organization=Mint": ["gold"],
    "license=Apache-2.0": ["gold"],
    "license=open": ["gold"],
    "search=no-such-model": [],
    "board=overall&unknown=1": ["gold", "silver", "newcomer", "bronze"],
}


@pytest.mark.slow
def test_board_is_sorted_and_filtered(client, published):
    boards = {query: client.get(f"{API}?{query}").json() for query in ORDERS}
    assert {query: slugs(board) for query, board in boards.items()} == ORDERS
    assert {board["models"] for board in boards.values()} == {4}


def test_invalid_queries_return_error_object(client):
    refused = client.get(f"{API}?sort_by=luck&order=up")
    assert refused.status_code == 400
    assert refused.json()["code"] == "invalid"
    assert list(refused.json()["fields"]) == ["sort_by", "order"]
    for unknown in (f"{API}?board=kittens", f"{API}?category=kittens", f"{API}snapshots/unknown/"):
        missing = client.get(unknown)
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert client.post(API).status_code == 405


@pytest.mark.slow
def test_boards_and_snapshots_are_listed(client, published):
    cast_many(*LanguageModel.objects.filter(slug__in=["gold", "silver"]), left=1)
    newer = aggregate()
    boards = client.get("/api/v1/boards/").json()
    assert [board["board"] for board in boards["results"]] == ["overall", "language:und"]
    assert boards["results"][0]["snapshot"] == newer.public_id
    listed = client.get(f"{API}snapshots/?board=overall").json()
    assert [line["id"] for line in listed["results"]] == [newer.public_id, published.public_id]
    assert [line["last_order"] for line in listed["results"]] == [94, 93]
    older = client.get(f"{API}snapshots/{published.public_id}/").json()
    assert older["tallies_checksum"] == published.tallies_checksum
    assert (older["votes_counted"], slugs(older)) == (93, ["gold", "silver", "newcomer", "bronze"])


@pytest.mark.slow
def test_board_has_fixed_query_count(client, published):
    client.get(API)  # reads the limits
    listed_boards()  # cached for seconds
    with CaptureQueriesContext(connection) as small:
        client.get(API)
    newcomers = contestants(*[f"m{number}" for number in range(20)])
    for first, second in pairwise(newcomers):
        cast_many(first, second, left=3, right=3)
    aggregate()
    with CaptureQueriesContext(connection) as large:
        board = client.get(API).json()
    assert len(board["results"]) == 24
    assert len(large) == len(small) <= 7


@pytest.mark.slow
def test_htmx_request_gets_table_only(client, published):
    page = client.get(reverse("leaderboard:board"), {"sort_by": "name", "order": "asc"})
    assert page.status_code == 200
    text = page.content.decode()
    assert "<html" in text
    assert text.index("Bronze") < text.index("Gold") < text.index("Silver")
    assert page.context["organizations"] == ["Forge", "Mint"]
    assert ">MI</span> <a" in page.text
    assert page.context["licenses"] == ["Apache-2.0", "unknown"]
    fragment = client.get(reverse("leaderboard:board"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert "Gold" in fragment


def test_page_of_empty_arena_links_to_first_battle(client):
    assert "Start a battle" in client.get(reverse("leaderboard:board")).content.decode()


def test_model_that_won_all_votes_has_no_upper_bound(client):
    winner, other = contestants("winner", "other")
    cast_many(winner, other, left=6)
    aggregate()
    [line, _] = client.get(API).json()["results"]
    assert line["ci_low"] < line["score"]
    assert line["ci_high"] is None
    page = client.get(reverse("leaderboard:board")).content.decode()
    assert "None" not in page
    assert "inf" not in page.split("<table")[1].split("</table>")[0].replace("info", "")


def test_board_shows_scores_by_agreement_in_a_column(client, published):
    weighted = published.facts["agreement"]["scores"]["gold"]
    html = client.get(reverse("leaderboard:board"), {"sort_by": "agreement_score", "order": "desc"}).content.decode()
    assert "By agreement</a>" in html
    assert f'<td class="number">{weighted:.0f}</td>' in html
    ordered = client.get(API, {"sort_by": "agreement_score", "order": "desc"}).json()["results"]
    scores = [line["agreement_score"] for line in ordered if line["agreement_score"] is not None]
    assert scores == sorted(scores, reverse=True)


def test_charts_explain_grey_points_of_preliminary_models(client, published):
    assert "Grey points are preliminary" in client.get(reverse("leaderboard:charts")).text


@pytest.mark.parametrize(
    ("language", "title", "section", "folded"),
    [
        ("en", "How the ranking is made", "The interval", "Intervals in simulated arenas"),
        ("fr", "Comment le classement est établi", "L’intervalle", "Les intervalles dans des arènes simulées"),
    ],
)
def test_method_page_has_contents_and_folds_proofs(client, language, title, section, folded):
    page = client.get(reverse("leaderboard:method"), headers={"Accept-Language": language}).text
    assert f"{title}</h1>" in page
    assert page.count("<h2>") == 1 + len(re.findall(r'<li><a href="#[\w-]+">', page))
    assert set(re.findall(r'<li><a href="#([\w-]+)">', page)) == set(re.findall(r'<section id="([\w-]+)">', page))
    article = page[page.index('<article class="prose document">') :]
    shown = re.sub(r"<details>.*?</details>", "", article, flags=re.DOTALL)
    assert f"<h2>{section}</h2>" in shown
    assert f"<summary>{folded}</summary>" in article
    assert "HC3" in article
    assert "HC3" not in shown


@pytest.mark.slow
def test_page_url_returns_json_and_csv(client, published):
    url = reverse("leaderboard:board")
    query = {"organization": "Mint"}
    assert client.get(url, {**query, "format": "json"}).json()["results"] == client.get(API, query).json()["results"]
    response = client.get(url, {**query, "format": "csv"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="overall.csv"'
    [line] = csv.DictReader(response.content.decode().splitlines())
    assert (line["model"], line["name"], line["rank"], line["votes"]) == ("gold", "Gold", "1", "44")
    assert (line["organization"], line["price_output"]) == ("Mint", "10")
    assert float(line["agreement_score"]) == published.facts["agreement"]["scores"]["gold"]


FORMULAS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n=1", "＝1+1", "\u3000＝1", "\ufeff=1", "\u200b=1",
]  # fmt: skip


@pytest.mark.slow
def test_formula_in_name_is_escaped_in_csv(client):
    assert [escape_formula(formula) for formula in FORMULAS] == [f"'{formula}" for formula in FORMULAS]
    bad, other = contestants("bad", "other")
    cast_many(bad, other, left=6)
    aggregate()
    for formula in FORMULAS:
        LanguageModel.objects.filter(pk=bad.pk).update(name=formula)
        text = client.get(reverse("leaderboard:board"), {"format": "csv"}).content.decode()
        lines = list(csv.DictReader(text.splitlines(keepends=True)))
        assert f"'{formula}" in [line["name"] for line in lines]


def test_plain_values_are_not_escaped():
    for value in ("Gold 2.5", "a=b", -1.5, None, True):
        assert escape_formula(value) is value


def test_first_token_time_is_median_of_finished_calls():
    fast, slow = contestants("fast", "slow")
    battle = make.answered_battle(fast, slow)
    Battle.objects.filter(pk=battle.pk).update(mode=Battle.Mode.SIDE_BY_SIDE)
    for fence, (state, milliseconds) in enumerate([("done", 100), ("done", 300), ("done", 200), ("failed", 9000)]):
        answer = battle.turns.get().answers.get(side__model=fast)
        Call.objects.create(answer=answer, model=fast, attempt=1, fence=fence, state=state, first_token_ms=milliseconds)
    cast_many(fast, slow, left=6)
    aggregate()
    times = {line["model"]["id"]: line["median_first_token_ms"] for line in read_board(BoardQuery())["results"]}
    assert times == {"fast": 200, "slow": None}
