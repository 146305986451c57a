"""Boards of a team: what they count, when they are fitted, and who reads them."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from accounts.models import Role
from accounts.open_streams import StreamRight, find_lost
from accounts.teams.actions import archive_team
from battles.models import Vote
from leaderboard.aggregation import job, team_boards
from leaderboard.aggregation.fit_boards import RefitScope, last_refit_time
from leaderboard.boards.queries import board_names
from leaderboard.counting import tallies
from leaderboard.counting.vote_arrays import read_board
from leaderboard.counting.vote_changes import exclude_votes
from leaderboard.models import AggregationRun, PairTally, TeamBoard
from tests import make
from tests.leaderboard.tally_checks import aggregate, cast_random_votes
from tests.leaderboard.teams.votes import cast_in
from tests.leaderboard.vote_factory import ballot, cast_all, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair():
    return contestants("a", "b")


def overall_of(team) -> AggregationRun:
    return AggregationRun.objects.snapshots(f"team:{team.pk}/overall", team.pk)[0]


def test_team_votes_count_on_its_boards_alone(pair):
    team = make.team()
    cast_in(team, pair, left=4, right=2)
    site = aggregate()
    assert (site.votes_counted, site.votes_taken, site.standings.count()) == (0, 0, 0)
    of_team = overall_of(team)
    assert (of_team.votes_counted, of_team.team_id, of_team.facts["voters"]) == (6, team.pk, 2)
    assert sorted(of_team.standings.values_list("model__slug", "wins")) == [("a", 4), ("b", 2)]
    assert all(of_team.standings.values_list("elo", flat=True))
    assert_tallies_match_votes_of_site()


def assert_tallies_match_votes_of_site() -> None:
    assert not PairTally.objects.filter(n__gt=0).exclude(scope__startswith="team:").exists()
    assert tallies.rebuild() == 0


def test_votes_count_for_both_by_the_teams_wish(pair):
    team = make.team()
    cast_in(team, pair, on_site=True, left=4, right=2)
    assert aggregate().votes_counted == 6
    assert overall_of(team).votes_counted == 6


def test_site_boards_are_the_same_beside_team_votes(pair):
    def read_site() -> list[object]:
        runs = AggregationRun.objects.newest_of_each_board()
        columns = ("run__scope", "model__slug", "score", "ci_low", "ci_high", "rank", "elo", "votes", "style_score")
        standings = list(runs.order_by("scope", "standings__model__slug").values_list(
            *(column.replace("run__", "").replace("model", "standings__model") if "run" in column or "model" in column
              else f"standings__{column}" for column in columns)
        ))  # fmt: skip
        return [standings, list(runs.values_list("scope", "tallies_checksum", "votes_counted", "votes_taken"))]

    cast_random_votes(120)
    aggregate()
    before = read_site()
    shown = [(run.shown_order, run.shown_change) for run in AggregationRun.objects.newest_of_each_board()]
    cast_in(make.team(), contestants("x", "y"), left=9, right=5)
    aggregate()
    after = read_site()
    assert after[0] == before[0]
    assert [row[:3] for row in after[1]] == [row[:3] for row in before[1]]
    now = [(run.shown_order, run.shown_change) for run in AggregationRun.objects.newest_of_each_board()]
    assert now == shown


def test_only_teams_with_new_votes_are_fitted(pair):
    quiet, busy = make.team(), make.team()
    for team in (quiet, busy):
        cast_in(team, pair, left=4, right=2)
    aggregate()
    cast_in(busy, pair, right=1)
    aggregate()
    runs = AggregationRun.objects.filter(team__isnull=False)
    assert [runs.filter(team=team).count() for team in (quiet, busy)] == [1, 2]


def test_slow_parts_wait_for_a_fifth_of_new_votes(pair):
    team = make.team()
    cast_in(team, pair, voters=5, left=30, right=20)
    aggregate()
    first = overall_of(team)
    cast_in(team, pair, left=5)
    aggregate()
    second = overall_of(team)
    assert (second.facts["thorough"], second.facts["style_of"], second.facts["voters"]) == (False, first.public_id, 5)
    cast_in(team, pair, left=6)
    aggregate()
    assert overall_of(team).facts["thorough"]


def test_slow_parts_of_a_team_are_due_at_its_own_minute(pair):
    team = make.team()
    cast_in(team, pair, left=30, right=20)
    aggregate()
    first = overall_of(team)
    board = read_board(first.scope)
    refitted_at = last_refit_time(team.pk, now=first.started_at + timedelta(days=1))
    assert first.started_at < refitted_at <= first.started_at + timedelta(days=1)
    for seconds, is_due in ((-1, False), (1, True)):
        now = refitted_at + timedelta(seconds=seconds)
        refit = RefitScope.due_in_team(board, first, now=now)
        assert (refit.voters, refit.style) == (is_due, is_due)


def test_times_of_teams_spread_over_the_day():
    now = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)
    assert last_refit_time(None, now=now) == datetime(2026, 1, 2, tzinfo=UTC)
    times = [last_refit_time(team, now=now) for team in range(1000, 1050)]
    assert all(now - timedelta(days=1) < at <= now for at in times)
    assert max(Counter(at.hour for at in times).values()) <= 4


def test_teams_follow_the_run_of_the_site(pair, monkeypatch):
    team = make.team()
    cast_in(team, pair, left=4, right=2)
    with monkeypatch.context() as dies:
        dies.setattr(team_boards, "publish_changed", lambda **_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            aggregate()
    assert AggregationRun.objects.filter(scope="overall").count() == 1
    aggregate()
    assert overall_of(team).votes_counted == 6
    aggregate()
    assert AggregationRun.objects.filter(team=team).count() == 1


def test_excluded_vote_is_published_anew(pair):
    team = make.team()
    votes = cast_in(team, pair, left=4, right=2)
    aggregate()
    exclude_votes(Vote.objects.filter(pk=votes[0].pk), reason="operator")
    aggregate()
    assert (overall_of(team).votes_counted, overall_of(team).votes_excluded) == (5, {"operator": 1})


def test_board_that_owners_switched_on_is_fitted(pair):
    team = make.team()
    cast_in(team, pair, left=4, right=2)
    TeamBoard.objects.create(team=team, name="category:coding")
    team_boards.publish([team.pk])
    scopes = AggregationRun.objects.filter(team=team).order_by("scope").values_list("scope", flat=True)
    assert list(scopes) == [f"team:{team.pk}/category:coding", f"team:{team.pk}/overall"]
    assert list(board_names(team=team)) == ["overall", "category:coding"]
    assert "category:coding" not in board_names()


def test_young_board_of_team_is_published_early(pair, monkeypatch):
    assert job.aggregate_if_due() is not None
    team = make.team()
    cast_in(team, pair, left=1)
    assert job.aggregate_if_due() is None
    assert overall_of(team).votes_counted == 1
    cast_in(team, pair, left=1)
    job.aggregate_if_due()
    assert overall_of(team).votes_counted == 1


def test_failing_team_leaves_the_site_alone(pair, monkeypatch):
    monkeypatch.setattr(team_boards, "read_boards_of", lambda *args, **kwargs: 1 / 0)
    cast_in(make.team(), pair, left=3)
    cast_all([ballot(*pair, "left") for _ in range(6)])
    assert aggregate().votes_counted == 6
    assert not AggregationRun.objects.filter(team__isnull=False).exists()


def test_member_reads_the_board_and_outsiders_do_not(pair):
    member, guest = make.user(), make.user()
    team = make.team(members={Role.MEMBER: [member], Role.GUEST: [guest]})
    cast_in(team, pair, left=6, right=3)
    aggregate()
    page = make.browser(make.Actor(user=member)).get("/leaderboard/", {"team": team.slug})
    assert page.status_code == 200
    text = page.content.decode()
    assert team.name in text
    assert "The votes are from 2 people" in text or "Nearly all votes are from two people" in text
    charts = make.browser(make.Actor(user=member)).get("/leaderboard/charts/", {"team": team.slug}).text
    assert "two people" in charts or "2 people" in charts
    random_board = Client().get("/leaderboard/", {"board": "category:gone"})
    for client in (Client(), make.browser(make.member())):
        assert client.get("/leaderboard/", {"team": team.slug}).status_code == random_board.status_code == 404
    assert make.browser(make.Actor(user=guest)).get("/leaderboard/", {"team": team.slug}).status_code == 403


@pytest.mark.parametrize(
    "path", ["", "matrix/", "snapshots/", "history/?models=a", "head-to-head/?a=a&b=b", "models/a/"]
)
def test_api_of_team_is_as_a_random_id_to_outsiders(pair, path):
    member = make.user()
    team = make.team(member)
    cast_in(team, pair, left=6, right=3)
    aggregate()
    url = f"/api/v1/leaderboard/{path}"
    join = "&" if "?" in path else "?"
    assert make.browser(make.Actor(user=member)).get(f"{url}{join}team={team.slug}").status_code == 200
    outsider = make.api()
    real, unknown = (outsider.get(f"{url}{join}team={slug}") for slug in (team.slug, "no-such-team"))
    assert (real.status_code, real.content) == (unknown.status_code, unknown.content)
    assert real.status_code == 404


def test_token_reads_the_boards_of_its_place_alone(pair):
    member = make.user()
    team, other = make.team(member), make.team(member)
    cast_in(team, pair, left=6, right=3)
    aggregate()
    tokens = [make.token(member, team=place) for place in (team, other, None)]
    answers = [
        Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/leaderboard/", {"team": team.slug})
        for token in tokens
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 404]
    assert (answers[0].json()["board"], answers[0].json()["votes_counted"]) == ("overall", 9)


@pytest.mark.django_db(transaction=True)
def test_removed_member_loses_the_stream_of_a_board(pair):
    member = make.user()
    team = make.team(members={Role.MEMBER: [member]})
    key = make.browser(make.Actor(user=member)).session.session_key
    right = StreamRight(person=f"user:{member.pk}", session_key=key, team=team.pk)
    assert find_lost([right]) == set()
    team.members.filter(user=member).delete()
    assert find_lost([right]) == {right}
    outsider = make.browser(make.Actor(user=member))
    assert outsider.get("/leaderboard/stream/", {"team": team.slug}).status_code == 404


def test_keys_of_teams_lead_nowhere(pair):
    member = make.user()
    team = make.team(member)
    cast_in(team, pair, left=6, right=3)
    aggregate()
    key = f"team:{team.pk}/overall"
    client = make.browser(make.Actor(user=member))
    for url in ("/api/v1/leaderboard/", "/api/v1/leaderboard/matrix/"):
        known, unknown = (client.get(url, {"board": board}) for board in (key, "team:0/overall"))
        assert (known.status_code, known.content) == (404, unknown.content)
    listed = client.get("/api/v1/leaderboard/snapshots/", {"board": key}).json()
    assert listed["results"] == []
    history = client.get("/api/v1/leaderboard/history/", {"board": key, "models": "a"}).json()
    assert history["series"] == [{"model": "a", "points": []}]


def test_snapshot_of_team_is_as_a_random_id_to_outsiders(pair):
    member = make.user()
    team = make.team(member)
    cast_in(team, pair, left=6, right=3)
    aggregate()
    snapshot = overall_of(team).public_id
    own = make.browser(make.Actor(user=member))
    assert own.get(f"/leaderboard/snapshots/{snapshot}/", {"team": team.slug}).status_code == 200
    assert own.get(f"/leaderboard/snapshots/{snapshot}/changes/", {"team": team.slug}).status_code == 200
    shown = own.get(f"/api/v1/leaderboard/snapshots/{snapshot}/", {"team": team.slug}).json()
    assert (shown["board"], shown["last_order"]) == ("overall", 9)
    assert "team:" not in json.dumps(shown)
    for client in (make.api(), own):
        for query in ({}, {"team": "no-such-team"}):
            known, unknown = (
                client.get(f"/api/v1/leaderboard/snapshots/{one}/", query) for one in (snapshot, "x" * 22)
            )
            assert (known.status_code, known.content) == (404, unknown.content)
    assert snapshot not in str(make.api().get("/api/v1/leaderboard/snapshots/").json())


def test_archived_team_shows_no_board(pair):
    owner = make.user()
    team = make.team(owner)
    cast_in(team, pair, left=6, right=3)
    aggregate()
    archive_team(by=owner, team=team)
    client = make.browser(make.Actor(user=owner))
    assert client.get("/leaderboard/", {"team": team.slug}).status_code == 404
    cast_in(team, pair, left=1)
    aggregate()
    assert overall_of(team).votes_counted == 9


@pytest.mark.parametrize("page", ["charts/", "compare/a/b/", "models/a/", "snapshots/", "compare/"])
def test_pages_of_team_keep_their_place(pair, page):
    member = make.user()
    team = make.team(member)
    cast_in(team, pair, left=40, right=33)
    aggregate()
    text = make.browser(make.Actor(user=member)).get(f"/leaderboard/{page}", {"team": team.slug}).content.decode()
    assert f"/leaderboard/?team={team.slug}" in text or f"board=overall&amp;team={team.slug}" in text
    assert make.browser(make.member()).get(f"/leaderboard/{page}", {"team": team.slug}).status_code == 404
