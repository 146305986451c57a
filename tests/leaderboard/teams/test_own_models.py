"""A team's own model beside a site model of the same name: the same figures on the team's boards, none elsewhere."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.models import Team, User
from accounts.teams.actions import change_team
from battles import interactions
from battles.models import Answer, Battle, Call, Session, Side, Turn, Vote
from common.errors import InvalidInput
from leaderboard.boards.dropped_votes import dropped_votes
from leaderboard.exports import api
from leaderboard.exports.interactions import InteractionExport
from leaderboard.models import AggregationRun, TeamBoard
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in, cast_stars
from tests.leaderboard.vote_factory import ballot, cast_all, cast_many

pytestmark = pytest.mark.django_db
OWN = "physics~fox"


@pytest.fixture
def owner() -> User:
    return make.user()


@pytest.fixture
def team(owner: User) -> Team:
    return make.team(owner, name="Physics", slug="physics")


@pytest.fixture
def foxes(team: Team) -> list[LanguageModel]:
    """Return the site's model and the team's."""
    return [make.model(slug="fox", name="Fox"), make.team_model(team, slug="fox", name="Fox", organization="Den")]


@pytest.fixture
def reader(owner: User, monkeypatch: pytest.MonkeyPatch) -> Client:
    # Files are read in the test's transaction, not in a thread of the database.
    monkeypatch.setattr(api, "stream_chunks", iter)
    return make.browser(make.Actor(user=owner))


@pytest.fixture
def published(team: Team, foxes: list[LanguageModel]) -> AggregationRun:
    TeamBoard.objects.create(team=team, name="language:en")
    cast_in(team, foxes, voters=6, left=8, right=20, tie=2)
    aggregate()
    return AggregationRun.objects.snapshots(f"team:{team.pk}/overall", team.pk)[0]


def get(client: Client, path: str, **query: str) -> dict:
    response = client.get(f"/api/v1/{path}", {"team": "physics", **query})
    assert response.status_code == 200, response.content
    return response.json()


def test_both_models_stand_on_the_board_with_owners(published, reader: Client):
    board = get(reader, "leaderboard/")
    assert [(line["model"]["id"], line["wins"], line["votes"]) for line in board["results"]] == [
        (OWN, 20, 30), ("fox", 8, 30),
    ]  # fmt: skip
    assert all(line["agreement_score"] for line in board["results"])
    assert set(board["facts"]["agreement"]["scores"]) == {OWN, "fox"}
    page = reader.get("/leaderboard/", {"team": "physics"}).text
    assert f'href="/leaderboard/models/{OWN}/?team=physics"' in page
    assert all(shown in page for shown in ("<bdi>Fox · physics</bdi>", "<bdi>Fox</bdi>", "Den"))


@pytest.mark.parametrize("name", ["fox", OWN])
def test_each_model_has_its_page(published, reader: Client, name: str):
    page = get(reader, f"leaderboard/models/{name}/")
    wins, other = (20, "fox") if name == OWN else (8, OWN)
    assert [line["board"] for line in page["standings"]] == ["overall", "language:en"]
    assert (page["model"]["id"], page["standings"][0]["wins"], page["live_votes"]) == (name, wins, 30)
    assert [(line["model"]["id"], line["wins"]) for line in page["opponents"]] == [(other, wins)]
    assert [version["slug"] for version in page["versions"]] == [name]
    assert [version["id"] for version in page["about"]["versions"]] == [name]
    html = reader.get(f"/leaderboard/models/{name}/", {"team": "physics"}).text
    assert f'href="/leaderboard/compare/{name}/{other}/?team=physics"' in html


def test_pages_of_pairs_name_both(published, reader: Client):
    charts = reader.get("/leaderboard/charts/", {"team": "physics"}).context["charts"]
    assert [line["name"] for line in charts["intervals"]] == ["Fox · physics", "Fox"]
    assert [(row["id"], [cell and cell["votes"] for cell in row["cells"]]) for row in charts["matrix"]["rows"]] == [
        (OWN, [None, 30]), ("fox", [30, None]),
    ]  # fmt: skip
    assert [(line["id"], len(line["points"])) for line in charts["history"]] == [(OWN, 1), ("fox", 1)]
    history = get(reader, "leaderboard/history/", models=f"fox,{OWN}")
    assert [(line["model"], len(line["points"])) for line in history["series"]] == [("fox", 1), (OWN, 1)]
    matrix = get(reader, "leaderboard/matrix/")
    assert (matrix["models"], matrix["pairs"][0]["votes"]) == (["fox", OWN], 30)
    pair = get(reader, "leaderboard/head-to-head/", a=OWN, b="fox")
    assert (pair["a"]["id"], pair["wins_a"], pair["wins_b"], pair["expected"] is not None) == (OWN, 20, 8, True)
    chosen = reader.get("/leaderboard/compare/", {"team": "physics", "a": "fox", "b": OWN})
    assert chosen["Location"] == f"/leaderboard/compare/fox/{OWN}/?team=physics"
    assert reader.get(chosen["Location"]).status_code == 200


def test_snapshot_and_files_agree(published, reader: Client, tmp_path):
    page = reader.get(f"/leaderboard/snapshots/{published.public_id}/", {"team": "physics"})
    assert "~fox" not in page.text.replace(OWN, "")
    lines = reader.get("/api/v1/exports/votes.jsonl", {"team": "physics"}).getvalue().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {(row["model_left"], row["model_right"]) for row in rows} == {("fox", OWN)}
    assert len(rows) == 30
    file = tmp_path / "votes.csv"
    call_command("export_votes", str(file), snapshot=published.public_id, team="physics", stderr=StringIO())
    assert file.read_text().count(OWN) == 30
    standings = tmp_path / "standings.json"
    standings.write_bytes(
        reader.get(f"/api/v1/leaderboard/snapshots/{published.public_id}/", {"team": "physics"}).content
    )
    for arguments in ({"snapshot": published.public_id, "team": "physics"}, {"standings": standings, "export": file}):
        out = StringIO()
        call_command("recompute_snapshot", stdout=out, **arguments)
        assert "agrees: overall, 30 votes, 2 models." in out.getvalue()


def test_commands_find_teams_by_address_only(published, tmp_path):
    with pytest.raises(CommandError, match="There is no team chemistry"):
        call_command("export_votes", str(tmp_path / "votes.csv"), team="chemistry")
    with pytest.raises(CommandError):
        call_command("recompute_snapshot", published.public_id)


def test_renamed_team_keeps_its_snapshots(published, team: Team, owner: User, reader: Client):
    change_team(by=owner, team=team, name="Lab", slug="lab", colour=team.colour)
    board = get(reader, "leaderboard/", team="lab")
    assert (
        {line["model"]["id"] for line in board["results"]}
        == {"lab~fox", "fox"}
        == set(board["facts"]["agreement"]["scores"])
    )
    out = StringIO()
    call_command("recompute_snapshot", published.public_id, team="lab", stdout=out)
    assert "agrees" in out.getvalue()
    cast_in(team, list(LanguageModel.of_every_owner.order_by("pk")), left=1)
    aggregate()
    assert get(reader, "leaderboard/", team="lab")["votes_counted"] == 31


def test_votes_of_the_first_place_are_found(published):
    votes = {(vote.left, vote.right, vote.choice) for vote in dropped_votes(published)}
    assert votes == {("fox", "~fox", "right")}


def test_stars_of_both_are_apart(foxes: list[LanguageModel], team: Team, reader: Client):
    TeamBoard.objects.create(team=team, name="compare")
    for _ in range(12):
        cast_stars(foxes, (2, 5), team=team)
    aggregate()
    page = reader.get("/leaderboard/", {"team": "physics", "board": "compare"}).text
    assert "Fox · physics" in page
    assert set(get(reader, "leaderboard/", board="compare")["facts"]["stars"]) == {"fox", OWN}
    rows = reader.get("/api/v1/exports/stars.jsonl", {"team": "physics"}).getvalue().splitlines()
    assert {(json.loads(row)["model"], json.loads(row)["stars"]) for row in rows} == {("fox", 2), (OWN, 5)}
    charts = reader.get("/leaderboard/charts/", {"team": "physics", "board": "compare"}).context["charts"]
    assert [(line["id"], line["name"]) for line in charts["stars"]] == [(OWN, "Fox · physics"), ("fox", "Fox")]
    history = reader.get(f"/leaderboard/models/{OWN}/", {"team": "physics"}).context["stars"]
    assert [line["id"] for line in history] == [OWN]


def test_models_without_votes_wait_on_overall(team: Team, foxes: list[LanguageModel], reader: Client):
    make.model(slug="ada", name="Ada")
    waiting = get(reader, "leaderboard/")["collecting"]
    assert sorted(line["model"]["id"] for line in waiting) == ["ada", OWN]  # the site's fox is hidden in the place
    assert reader.get("/leaderboard/", {"team": "physics"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/leaderboard/models/{}/", "/api/v1/leaderboard/models/{}/", "/api/v1/models/{}/",
        "/leaderboard/compare/{}/fox/", "/api/v1/leaderboard/head-to-head/?a={}&b=fox",
        "/leaderboard/compare/?a={}&b=fox",
    ],
)  # fmt: skip
def test_site_does_not_know_the_model(published, reader: Client, path: str):
    for client in (reader, make.api()):
        for name in (OWN, "~fox"):
            known, unknown = (client.get(path.format(one)) for one in (name, "chemistry~fox"))
            assert (known.status_code, unknown.status_code) == (404, 404)
    in_team = path.format("chemistry~fox") + ("&" if "?" in path else "?") + "team=physics"
    assert reader.get(in_team).status_code == 404


def test_site_boards_contain_nothing_of_it(published, foxes: list[LanguageModel]):
    cast_many(foxes[0], make.model(slug="ada", name="Ada"), left=6, right=4)
    aggregate()
    client = make.api()
    for path in ("", "matrix/", f"history/?models={OWN}", "models/fox/"):
        text = client.get(f"/api/v1/leaderboard/{path}").text.replace(f'"model":"{OWN}"', "")
        assert [word for word in ("~", "Den") if word in text] == []
    assert Vote.objects.filter(on_site_boards=True).count() == 10
    for page in ("board", "charts", "compare_choice", "snapshots"):
        text = client.get(reverse(f"leaderboard:{page}")).text
        assert [word for word in ("physics", "Den") if word in text] == []


@pytest.mark.parametrize(
    "path",
    [
        "/leaderboard/", "/leaderboard/charts/", "/leaderboard/models/fox/", "/leaderboard/compare/",
        "/api/v1/leaderboard/matrix/",
    ],
)  # fmt: skip
def test_queries_do_not_grow_with_own_models(published, team: Team, foxes, reader: Client, path: str):
    def queries() -> int:
        reader.get(path, {"team": "physics"})
        with CaptureQueriesContext(connection) as captured:
            assert reader.get(path, {"team": "physics"}).status_code == 200
        return len(captured)

    few = queries()
    for number in range(4):
        other = make.team_model(team, slug=f"owl-{number}", name=f"Owl {number}")
        cast_in(team, [foxes[number % 2], other], voters=6, left=6, right=6)
    aggregate()
    assert queries() == few


def test_operators_log_names_the_teams_model(foxes: list[LanguageModel]):
    for fox in foxes:
        Call.objects.create(model=fox, purpose="probe", lease_until=timezone.now(), attempt=1, fence=0, state="done")
    for name in ("fox", OWN):
        calls = interactions.select(interactions.readable_by(0), {"model": name})
        assert [row.model for rows in InteractionExport(calls).batches() for row in rows] == [name]
    with pytest.raises(InvalidInput):
        interactions.select(interactions.readable_by(0), {"model": "chemistry~fox"})


def call_in(team: Team | None, model: LanguageModel, *, first_token_ms: int) -> None:
    session = Session.objects.create(team=team)
    battle = Battle.objects.create(session=session, mode=Battle.Mode.DIRECT, propensity=1)
    turn = Turn.objects.create(battle=battle, index=0, prompt="p", state=Turn.State.DONE)
    side = Side.objects.create(battle=battle, position="left", model=model)
    answer = Answer.objects.create(turn=turn, side=side, state=Answer.State.DONE)
    Call.objects.create(
        answer=answer, model=model, attempt=1, fence=1, state="done", first_token_ms=first_token_ms, total_ms=900
    )


def test_last_answers_are_those_of_the_place(team: Team, foxes: list[LanguageModel], reader: Client):
    site_model, own = foxes
    call_in(None, site_model, first_token_ms=100)
    call_in(team, site_model, first_token_ms=200)
    call_in(team, own, first_token_ms=300)
    call_in(make.team(), site_model, first_token_ms=400)
    shown = [get(reader, f"leaderboard/models/{name}/")["calls"] for name in ("fox", OWN)]
    assert [(calls["calls"], calls["first_token_p50_ms"]) for calls in shown] == [(1, 200), (1, 300)]
    on_site = make.api().get("/api/v1/leaderboard/models/fox/").json()["calls"]
    assert (on_site["calls"], on_site["first_token_p50_ms"]) == (1, 100)


def test_each_board_of_the_team_recomputes(team: Team, foxes: list[LanguageModel]):
    for name in ("category:coding", "compare", "language:en", "side-by-side"):
        TeamBoard.objects.create(team=team, name=name)
    models = [*foxes, make.team_model(team, slug="ant"), make.model(slug="zebra")]
    for left, right in ((0, 1), (2, 1), (3, 2), (1, 3)):
        cast_in(team, [models[left], models[right]], voters=6, left=9, right=7, tie=2, both_bad=1)
        for stars in ((2, 5), (4, 3), (3, 3)):
            cast_stars([models[left], models[right]], stars, team=team)
    cast_all(
        [ballot(*foxes, choice, team=team, on_site_boards=False, mode="side_by_side") for choice in ("left", "tie") * 4]
    )
    aggregate()
    runs = AggregationRun.objects.filter(team=team)
    assert len(runs) == 5
    for run in runs:
        out = StringIO()
        call_command("recompute_snapshot", run.public_id, team="physics", stdout=out)
        assert "agrees" in out.getvalue(), run.scope
