"""Files of votes and stars: a team's own, and the site's, whose numbers do not count votes of teams."""

import json

import msgspec
import numpy as np
import pytest
from django.conf import LazySettings

from battles.models import Battle, Vote
from leaderboard.counting.site_numbers import SiteNumbers
from leaderboard.export_rows import VoteRow
from leaderboard.exports import api, selection, verification
from leaderboard.models import AggregationRun
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in, cast_stars
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db
VOTES = "/api/v1/exports/votes.jsonl"


@pytest.fixture
def pair():
    return contestants("a", "b")


@pytest.fixture(autouse=True)
def read_here(monkeypatch):
    """Read files in the test's transaction, not in a thread of the database."""
    monkeypatch.setattr(api, "stream_chunks", iter)


def read(client, url: str = VOTES, **query: object) -> list[dict[str, object]]:
    response = client.get(url, query)
    assert response.status_code == 200
    return [json.loads(line) for line in response.getvalue().splitlines()]


def orders(rows) -> list[int]:
    return [row["order"] for row in rows]


def test_numbers_of_site_skip_votes_of_teams(pair, settings: LazySettings):
    settings.ARENA_PUBLISH_VOTES = True
    team = make.team()
    cast_many(*pair, left=3)
    cast_in(team, pair, left=2)
    cast_many(*pair, right=2)
    cast_in(team, pair, left=4)
    assert list(Vote.objects.filter(team=None).values_list("order", flat=True)) == [1, 2, 3, 6, 7]
    client = make.api()
    assert orders(read(client)) == [1, 2, 3, 4, 5]
    assert orders(read(client, since=3)) == [4, 5]
    run = aggregate()
    shown = client.get(f"/api/v1/leaderboard/snapshots/{run.public_id}/").json()
    assert (shown["last_order"], shown["votes_taken"]) == (5, 5)
    live = client.get("/api/v1/leaderboard/").json()["live"]
    assert (live["counted_until"], live["last_vote"], live["new_votes"]) == (5, 5, 0)
    cast_in(team, pair, left=4)
    cast_many(*pair, right=1)
    live = client.get("/api/v1/leaderboard/").json()["live"]
    assert (live["counted_until"], live["last_vote"], live["new_votes"]) == (5, 6, 1)


def test_numbers_are_translated_both_ways():
    numbers = SiteNumbers.read("battles_vote", until=9)
    assert [numbers.shown(order) for order in (1, 9)] == [1, 9]
    numbers = SiteNumbers(np.array([1, 4, 5]))
    assert [numbers.shown(order) for order in (2, 3, 6, 7)] == [1, 2, 3, 4]
    assert [numbers.in_log(shown) for shown in (1, 2, 3, 4)] == [2, 3, 6, 7]


def test_team_snapshot_recomputes_from_its_export(pair):
    member = make.user()
    team = make.team(member)
    cast_many(*pair, right=5)
    cast_in(team, pair, left=40, right=31, tie=4)
    cast_many(*pair, right=5)
    aggregate()
    snapshot = AggregationRun.objects.snapshots(f"team:{team.pk}/overall", team.pk)[0].public_id
    client = make.browser(make.Actor(user=member))
    published = verification.read_published(
        client.get(f"/api/v1/leaderboard/snapshots/{snapshot}/", {"team": team.slug}).content
    )
    rows = [msgspec.convert(row, VoteRow) for row in read(client, snapshot=snapshot, team=team.slug)]
    assert [row.order for row in rows] == list(range(1, 76))
    assert verification.recompute(published, rows) == []
    assert orders(read(client, team=team.slug, since=70)) == [71, 72, 73, 74, 75]


def test_teams_exports_have_no_pseudonym_in_common(pair):
    members = [make.user(), make.user()]
    teams = [make.team(member) for member in members]
    for team in teams:
        cast_in(team, pair, left=4)
    exports = [
        read(make.browser(make.Actor(user=member)), team=team.slug) for member, team in zip(members, teams, strict=True)
    ]
    first, second = ({row["voter"] for row in rows} for rows in exports)
    assert (len(first), len(second), first & second) == (2, 2, set())


def test_outsiders_export_nothing_of_a_team(pair, settings: LazySettings):
    settings.ARENA_PUBLISH_VOTES = True
    team = make.team()
    cast_in(team, pair, left=4)
    aggregate()
    snapshot = AggregationRun.objects.filter(team=team)[0].public_id
    client = make.api()
    assert read(client) == []
    for query in ({"snapshot": snapshot}, {"team": team.slug}, {"team": team.slug, "snapshot": snapshot}):
        known = client.get(VOTES, query)
        unknown = client.get(VOTES, {name: f"x{value}" for name, value in query.items()})
        assert (known.status_code, known.content) == (404, unknown.content)


def test_prompts_of_teams_are_never_published(pair, settings: LazySettings):
    settings.ARENA_PUBLISH_PROMPTS = True
    team = make.team()
    votes = cast_in(team, pair, on_site=True, left=1)
    Battle.objects.filter(pk=votes[0].battle_id).update(consent="1")
    assert not Vote.objects.with_consent().exists()
    [[row]] = selection.open_export(prompts=True).batches()
    assert (row.consent, row.turns) == (None, None)


def test_stars_of_team_are_numbered_apart(pair, settings: LazySettings):
    settings.ARENA_PUBLISH_VOTES = True
    member = make.user()
    team = make.team(member)
    cast_stars(pair, (5, 3))
    cast_stars(pair, (4, 1), team=team)
    cast_stars(pair, (2, 3))
    url = "/api/v1/exports/stars.jsonl"
    client = make.browser(make.Actor(user=member))
    assert [(row["order"], row["stars"]) for row in read(client, url)] == [(1, 5), (2, 3), (3, 2), (4, 3)]
    assert [(row["order"], row["stars"]) for row in read(client, url, team=team.slug)] == [(1, 4), (2, 1)]
    aggregate()
    board = client.get("/api/v1/leaderboard/", {"board": "compare"}).json()
    shown = client.get(f"/api/v1/leaderboard/snapshots/{board['snapshot']}/").json()
    assert (board["votes_counted"], shown["last_order"], shown["last_change"]) == (2, 2, 4)
