import csv
import re
from datetime import timedelta
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from battles.models import Vote
from leaderboard.boards.columns import FIELDS
from leaderboard.counting import schedule
from leaderboard.models import OVERALL, AggregationRun, Standing
from leaderboard.models.listed import listed_boards
from models_registry.models import LanguageModel
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast, cast_all, cast_many, contestants
from tests.pages import compact

pytestmark = pytest.mark.django_db

PAGE = "/leaderboard/"
API = "/api/v1/leaderboard/"


def visible_text(html: str) -> str:
    words: list[str] = []
    parser = HTMLParser()
    parser.handle_data = words.append  # type: ignore[method-assign]
    parser.feed(html)
    return " ".join(" ".join(words).split())


def page(client, url: str = PAGE, **query: str) -> str:
    response = client.get(url, query)
    assert response.status_code == 200
    return visible_text(response.content.decode())


@pytest.fixture
def two_groups():
    a, b, c, d = contestants("ada", "bob", "cyd", "dan")
    cast_many(a, b, left=40, right=20)
    cast_many(c, d, left=20, right=15)
    aggregate()


def test_api_and_page_return_same_csv(client, two_groups):
    query = {"search": "b", "sort_by": "votes", "order": "asc"}
    page, api = client.get(PAGE, {**query, "format": "csv"}), client.get(API, {**query, "as": "csv"})
    assert api.content == page.content
    assert api["Content-Disposition"] == page["Content-Disposition"]
    refused = client.get(API, {"as": "pdf"})
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["as"])


def test_models_that_never_met_are_in_separate_tables(client, two_groups):
    groups = {line["model"]["id"]: line["group"] for line in client.get(API).json()["results"]}
    assert groups == {"ada": 0, "bob": 0, "cyd": 1, "dan": 1}
    html = client.get(PAGE).content.decode()
    assert html.count("<table") == 2
    assert "Separate group 1" in html
    assert "no direct or indirect comparison" in html


def explanations(html: str) -> list[str]:
    return re.findall(r'<span class="explanation" role="tooltip" id="about-0-(\w+)">[^<]+</span>', html)


@pytest.mark.slow
def test_every_column_head_explains_itself(client, two_groups):
    html = client.get(PAGE).text
    heads = re.findall(r'<th scope="col"[^>]* data-column="(\w+)"', html)
    described = re.findall(r'aria-describedby="about-\d-(\w+)"', html)
    assert explanations(html) == heads[: len(heads) // 2]
    assert set(described) == set(heads)
    snapshot = client.get(API).json()["snapshot"]
    assert explanations(client.get(f"{PAGE}snapshots/{snapshot}/").text)[:3] == ["rank", "name", "score"]


def test_tiers_are_explained_only_where_there_are_any(client):
    a, b = contestants("ada", "bob")
    cast_many(a, b, left=3, right=3)
    aggregate()
    assert "tier" not in client.get(PAGE).text
    cast_many(a, b, left=60, right=10)
    aggregate()
    assert "tier" in explanations(client.get(PAGE).text)


@pytest.mark.slow
def test_undetermined_language_is_listed_from_30_votes(client):
    a, b = contestants("ada", "bob")
    cast_all([ballot(a, b, choice, language=language) for choice in ("left", "right") for language in ("und", "fr")])
    cast_many(a, b, left=14, right=13)
    aggregate()
    option = '<option value="language:und"'
    assert [board["board"] for board in client.get("/api/v1/boards/").json()["results"]] == ["overall", "language:fr"]
    assert option not in client.get(PAGE).text
    assert f"{option} selected>" in client.get(PAGE, {"board": "language:und"}).text
    assert "Undetermined" not in client.get(f"{PAGE}models/ada/").text
    cast_many(a, b, left=1)
    aggregate()
    assert option in client.get(PAGE).text
    assert "Undetermined" in client.get(f"{PAGE}models/ada/").text


def test_rank_is_shown_with_its_range(client):
    a, b, c = contestants("ada", "bob", "cyd")
    for first, second in ((a, b), (b, c), (a, c)):
        cast_many(first, second, left=21, right=20)
    aggregate()
    first = client.get(API).json()["results"][0]
    assert (first["rank"], first["rank_best"], first["rank_worst"]) == (1, 1, 3)
    assert "1 (1–3)" in page(client)


def test_unbounded_scores_are_shown_as_at_least_or_at_most(client):
    winner, middle, loser = contestants("winner", "middle", "loser")
    cast_many(winner, middle, left=6)
    cast_many(middle, loser, left=6)
    aggregate()
    lines = {line["model"]["id"]: line for line in client.get(API).json()["results"]}
    shown = page(client)
    assert f"at least {lines['winner']['ci_low']:.0f}" in shown
    assert f"at most {lines['loser']['ci_high']:.0f}" in shown
    assert "None" not in shown


def test_page_shows_excluded_votes_and_next_run(client):
    a, b = contestants("ada", "bob")
    cast_many(a, b, left=5, right=5)
    cast(a, b, "left", excluded=Vote.ExcludedReason.IDENTITY_LEAK)
    cast(a, b, "left", excluded=Vote.ExcludedReason.INCOMPLETE)
    aggregate()
    shown = page(client)
    assert "Not counted:" in shown
    assert "a model named itself 1" in shown
    assert "an answer was stopped 1" in shown
    assert "from 10 counted votes. Next run: at 30 votes, at the latest" in shown


def test_single_vote_is_shown_in_singular(client):
    a, b = contestants("ada", "bob")
    cast(a, b, "left")
    aggregate()
    assert "0 models · 1 counted vote " in page(client)


def test_query_is_kept_in_form_and_links(client, two_groups):
    html = client.get(PAGE, {"search": "a", "sort_by": "votes", "order": "asc"}).content.decode()
    assert 'name="search" value="a"' in compact(html)
    assert 'name="sort_by" value="votes"' in html
    assert 'name="order" value="asc"' in html
    # Sort links and file links keep the search.
    assert "?search=a&amp;sort_by=name&amp;order=asc" in html
    assert "?search=a&amp;sort_by=votes&amp;order=asc&amp;format=csv" in html


@pytest.mark.slow
def test_page_json_csv_and_api_have_same_lines(client, two_groups):
    query = {"sort_by": "name", "order": "asc", "search": "a"}
    api = client.get(API, query).json()["results"]
    assert client.get(PAGE, {**query, "format": "json"}).json()["results"] == api
    csv = client.get(PAGE, {**query, "format": "csv"}).content.decode().splitlines()
    assert [line.split(",")[3] for line in csv[1:]] == [line["model"]["id"] for line in api] == ["ada", "dan"]


def test_board_shows_live_elo_and_snapshot_keeps_its_own(client, two_groups):
    published = AggregationRun.objects.snapshots(OVERALL).get().public_id
    before = {line["model"]["id"]: line["elo"] for line in client.get(API).json()["results"]}
    cast(LanguageModel.objects.get(slug="bob"), LanguageModel.objects.get(slug="ada"), "left")
    now = {line["model"]["id"]: line["elo"] for line in client.get(API).json()["results"]}
    then = {line["model"]["id"]: line["elo"] for line in client.get(f"{API}snapshots/{published}/").json()["results"]}
    assert now["bob"] > before["bob"]
    assert then == before


def publish_styled() -> AggregationRun:
    """Publish a snapshot with another leader under style control and without a style score for the third model."""
    now = timezone.now()
    run = AggregationRun.objects.create(
        slot=schedule.new_slot(), state="done", method="m", parameters={"listed_from_votes": 5}, votes_counted=30,
        started_at=now, finished_at=now, duration_ms=1,
        facts={"style": {"coefficients": {"tokens": {"value": 0.2, "low": 0.1, "high": 0.3}}, "dropped": []}},
    )  # fmt: skip
    counts = {"votes": 20, "wins": 10, "losses": 10, "ties": 0, "both_bad": 0, "elo": 1500.0}
    for index, (model, style) in enumerate(
        zip(contestants("wordy", "terse", "new"), (1490.0, 1520.0, None), strict=True)
    ):
        score = 1530.0 - 20 * index
        Standing.objects.create(
            run=run, model=model, score=score, ci_low=score - 9, ci_high=score + 9, rank=index + 1, rank_best=1,
            rank_worst=3, preliminary=style is None, **counts, style_score=style,
            style_ci_low=style and style - 5, style_ci_high=style and style + 5, style_rank=style and 2 - index,
            style_rank_best=style and 1, style_rank_worst=style and 2,
        )  # fmt: skip
    return run


def test_style_control_changes_scores_and_ranks(client):
    publish_styled()
    plain = client.get(API).json()
    assert plain["style_control"] is False
    assert [line["model"]["id"] for line in plain["results"]] == ["wordy", "terse", "new"]
    controlled = client.get(API, {"style_control": "1"}).json()
    assert controlled["style_control"] is True
    assert [(line["model"]["id"], line["score"], line["rank"]) for line in controlled["results"]] == [
        ("terse", 1520.0, 1), ("wordy", 1490.0, 2), ("new", None, None),
    ]  # fmt: skip
    html = client.get(PAGE, {"style_control": "1"}).content.decode()
    assert 'name="style_control" value="1" form="filters" checked' in compact(html)
    assert [(line["rank_best"], line["rank_worst"]) for line in controlled["results"]] == [(1, 2), (1, 2), (None, None)]
    assert page(client, style_control="1").count("(1–2)") == 2
    assert "only established models have a score and a rank" in html
    assert "only established models have a score and a rank" not in page(client)
    assert "None" not in visible_text(html)


def test_board_without_style_scores_has_no_switch(client, two_groups):
    assert client.get(API, {"style_control": "1"}).json()["style_control"] is None
    assert "style_control" not in client.get(PAGE).content.decode()


def test_categories_and_languages_have_boards(client):
    a, b = contestants("ada", "bob")
    for vote in cast_many(a, b, left=6, right=4):
        Vote.objects.filter(pk=vote.pk).update(categories=["coding"], language="fr", labelled_by="test")
    cast_many(a, b, left=5)
    aggregate()
    boards = client.get("/api/v1/boards/").json()["results"]
    assert [(board["board"], board["title"], board["votes_counted"]) for board in boards][:3] == [
        ("overall", "Overall", 15), ("category:coding", "Coding", 10), ("language:fr", "French", 10),
    ]  # fmt: skip
    coding = client.get(API, {"category": "coding"}).json()
    assert (coding["board"], coding["category"], coding["votes_counted"]) == ("category:coding", "coding", 10)
    assert client.get(API, {"language": "fr"}).json()["board"] == "language:fr"
    html = client.get(PAGE, {"board": "category:coding"}).content.decode()
    assert '<optgroup label="Categories">' in html
    assert '<option value="category:coding" selected>Coding</option>' in html
    assert "Coding" in visible_text(html)


@pytest.mark.slow
def test_page_and_table_have_fixed_query_counts(client, two_groups, nothing_is_forgotten):
    listed_boards()

    def count_queries(**headers: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(PAGE, headers=headers)
        return len(captured)

    [vote] = cast_many(*contestants("eve", "fay"), left=1)
    Vote.objects.filter(pk=vote.pk).update(categories=["coding"])  # the first category adds a query for its name
    aggregate()
    count_queries()  # fills caches
    small = count_queries(), count_queries(**{"HX-Request": "true"})
    newcomers = contestants(*[f"m{number}" for number in range(15)])
    for first, second in pairwise(newcomers):
        for vote in cast_many(first, second, left=3, right=3):
            Vote.objects.filter(pk=vote.pk).update(categories=["coding", "maths"], language="de")
    aggregate()
    assert (count_queries(), count_queries(**{"HX-Request": "true"})) == small
    assert max(small) <= 10


def test_newest_snapshot_of_each_board_is_found(client):
    now = timezone.now()

    def published(scope: str, minutes: int, state: str = "done") -> AggregationRun:
        moment = now + timedelta(minutes=minutes)
        return AggregationRun.objects.create(
            scope=scope, slot=schedule.new_slot(), state=state, method="m", started_at=moment, finished_at=moment,
            duration_ms=1,
        )  # fmt: skip

    published("overall", 0), published("language:fr", 0), published("category:coding", 0, "failed")
    overall, french = published("overall", 1), published("language:fr", 1)
    published("overall", 2, "unchanged"), published("language:fr", 2, "failed")
    assert AggregationRun.objects.newest_ids(["overall", "language:fr", "category:coding"]) == {
        "overall": overall.public_id,
        "language:fr": french.public_id,
    }


def test_columns_without_values_are_left_out(client, two_groups):
    columns = [
        "rank", "name", "score", "interval", "tier", "votes", "win_rate", "both_bad_rate", "agreement_score", "elo",
        "license",
    ]  # fmt: skip
    assert _columns(client.get(PAGE).content.decode()) == columns
    LanguageModel.objects.filter(slug="ada").update(organization="Mint")
    html = client.get(PAGE).content.decode()
    assert _columns(html) == [*columns[:-1], "organization", "license"]
    for row in re.findall('<tr[^>]* data-model="[^"]*">(.*?)</tr>', html, re.DOTALL):
        assert len(re.findall("<t[dh]", row)) == len(columns) + 1


def _columns(html: str) -> list[str]:
    return re.findall('data-column="([^"]*)"', html.split("</thead>")[0])


def test_fields_of_csv_keep_their_order():
    assert ",".join(FIELDS) == (
        "rank,rank_best,rank_worst,model,name,organization,license,license_kind,status,score,ci_low,ci_high,"
        "preliminary,votes,wins,losses,ties,both_bad,win_rate,elo,price_input,price_output,median_first_token_ms,"
        "tier,both_bad_rate,both_bad_low,both_bad_high,judges,agreement_score,energy_wh_low,energy_wh_high,co2e_g_low,"
        "co2e_g_high"
    )


def test_leaderboard_pages_link_to_each_other(client, two_groups):
    html = client.get(PAGE).content.decode()
    for name in ("charts", "compare_choice", "snapshots", "method"):
        assert f'href="{reverse(f"leaderboard:{name}")}"' in html
    assert 'href="/leaderboard/models/ada/"' in html


def test_unplaceable_model_is_shown_with_reason(client):
    one, other, last, between, first = contestants("one", "other", "last", "between", "first")
    cast_many(one, other, left=40, right=40)
    # `last` lost all votes, `first` won all, and `between` met only these two.
    for better, worse in ((one, last), (between, last), (first, one), (first, between)):
        cast_many(better, worse, left=6)
    aggregate()
    assert "Between 12 not placed yet" in page(client)


@pytest.mark.parametrize(("votes", "judges"), [({"ada": 12}, 1), ({"ada": 40, "bob": 39, "eve": 1}, 2), ({}, None)])
def test_board_names_one_or_two_judges(client, votes, judges):
    pair = contestants("a", "b")
    for voter, times in (votes or {f"v{number}": 3 for number in range(4)}).items():
        for number in range(times):
            cast(*pair, "left" if number % 3 else "right", voter=f"visitor:{voter}")
    aggregate()
    board = client.get(API).json()
    assert board["judges"] == judges
    assert board["facts"]["effective_voters"] == pytest.approx({1: 1, 2: 2.05, None: 4}[judges], abs=0.01)
    line = next(csv.DictReader(client.get(API, {"as": "csv"}).content.decode().splitlines()))
    assert line["judges"] == str(judges or "")
    pages = [client.get(path).content.decode() for path in (PAGE, f"/leaderboard/snapshots/{board['snapshot']}/")]
    notice = {1: "from one person. The intervals", 2: "from two people. The intervals"}.get(judges, "Nearly all votes")
    assert [notice in page for page in pages] == [judges is not None] * 2
