"""A person's own board on the page and in the API, and a team's taste."""

import csv
import io
from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Scope
from battles.models import Battle, Vote
from leaderboard.boards.personal import fits
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.teams.votes import cast_in
from tests.leaderboard.vote_factory import ballot, cast_all, contestants

pytestmark = pytest.mark.django_db
PAGE, API = "/leaderboard/mine/", "/api/v1/leaderboard/?board=mine"


@pytest.fixture
def models() -> list[LanguageModel]:
    """Return three models between which others see no difference."""
    ada, bob, cyd = models = contestants("ada", "bob", "cyd")
    pairs = ((ada, bob), (bob, cyd), (cyd, ada))
    cast_all([ballot(*pair, choice) for pair in pairs for choice in ("left", "right", "tie") for _ in range(50)])
    return models


def vote(actor: Actor, left: LanguageModel, right: LanguageModel, choice: str, times: int = 1, **facts) -> list[Vote]:
    return cast_all([ballot(left, right, choice, voter=actor.key, **facts) for _ in range(times)])


def own(actor: Actor, query: str = "") -> dict:
    return make.browser(actor).get(API + query).json()


def line(board: dict, slug: str) -> dict:
    return next(row for row in board["results"] if row["model"]["id"] == slug)


def test_own_board_shows_what_a_person_likes_more(models):
    actor, (ada, bob, cyd) = make.member(), models
    vote(actor, ada, bob, "right", 40)
    vote(actor, bob, cyd, "left", 40)
    vote(actor, cyd, ada, "both_bad", 2)
    published = aggregate()
    vote(actor, ada, bob, "right")  # since the snapshot
    board = own(actor)
    assert (board["board"], board["votes"], board["votes_needed"]) == ("mine", 83, 0)
    assert (board["snapshot"], board["results"][0]["model"]["id"]) == (published.public_id, "bob")
    best = line(board, "bob")
    assert (best["votes"], best["wins"], best["losses"], best["ties"], best["both_bad"]) == (81, 81, 0, 0, 0)
    # Everyone else: the board without the person's votes.
    assert best["others_score"] == pytest.approx(1500, abs=1e-6)
    assert best["ci_low"] < best["score"] < best["ci_high"]
    assert 0 < best["difference_low"] < best["difference"] <= best["score"] - best["others_score"]
    assert best["differs"]
    page = make.browser(actor).get(PAGE)
    assert (page.status_code, page.headers["Cache-Control"]) == (200, "private, no-store")
    assert page.text.count("liked more") == 1
    rows = list(csv.DictReader(io.StringIO(make.browser(actor).get(f"{PAGE}?format=csv").text)))
    assert [row["model"] for row in rows] == [row["model"]["id"] for row in board["results"]]
    assert float(rows[0]["difference"]) == pytest.approx(best["difference"])
    assert make.browser(actor).get(f"{PAGE}?format=json").json()["results"] == board["results"]


def test_own_board_counts_blind_drawn_votes_of_the_person_alone(models):
    actor, (ada, bob, _cyd) = make.member(), models
    vote(actor, ada, bob, "left", 3)
    vote(actor, ada, bob, "left", excluded=Vote.ExcludedReason.ANOMALY)  # people are not told of a review
    vote(actor, ada, bob, "left", excluded=Vote.ExcludedReason.IDENTITY_LEAK)
    vote(actor, ada, bob, "left", mode=Battle.Mode.SIDE_BY_SIDE)
    vote(actor, ada, bob, "left", origin=Battle.Origin.ROUTER)
    vote(actor, ada, bob, "left", series="review-1")
    [discarded] = vote(actor, ada, bob, "left")
    discarded.battle.session.discarded_at = datetime(2026, 1, 1, tzinfo=UTC)
    discarded.battle.session.save()
    vote(make.member(), ada, bob, "left", 9)
    aggregate()
    board = own(actor)
    assert (board["votes"], board["votes_needed"], board["taste_sd"]) == (4, 1, None)
    assert line(board, "ada")["score"] is None
    page = make.browser(actor).get(PAGE).text
    assert "Vote on 1 more battle to see your own board" in page
    assert "liked more" not in page


def test_held_votes_look_like_counted_ones(models):
    held, counted = make.member(), make.member()
    for actor, reason in ((held, Vote.ExcludedReason.ANOMALY), (counted, "")):
        vote(actor, models[0], models[1], "left", 8, excluded=reason)
    aggregate()
    boards = [own(actor) for actor in (held, counted)]
    assert [board["votes"] for board in boards] == [8, 8]
    assert all(line(board, "ada")["score"] is not None for board in boards)


def test_visitor_and_newcomer_see_what_to_do(models):
    newcomer = Client().get(PAGE)
    assert (newcomer.status_code, "Vote on 5 more battles" in newcomer.text) == (200, True)
    answer = Client().get(API)
    assert (answer.json()["results"], answer.headers["Cache-Control"]) == ([], "private, no-store")
    visitor = make.visitor()
    vote(visitor, models[0], models[1], "left", 6)
    page = make.browser(visitor).get(PAGE).text  # before any snapshot
    assert "Sign in to keep it" in page
    assert "Others have too few votes" in page
    aggregate()
    assert own(visitor)["taste_sd"] > 0


def test_own_board_without_others_has_no_scores():
    actor, (ada, bob) = make.member(), contestants("ada", "bob")
    vote(actor, ada, bob, "left", 40)
    aggregate()
    board = own(actor)
    assert (board["votes"], line(board, "ada")["score"], board["taste_sd"]) == (40, None, None)


def test_failing_fit_leaves_the_record(models, monkeypatch):
    actor = make.member()
    vote(actor, models[0], models[1], "left", 6)
    aggregate()
    monkeypatch.setattr(fits, "fit_own_scores", lambda *_, **__: 1 / 0)
    board = own(actor)
    assert (line(board, "ada")["wins"], line(board, "ada")["score"]) == (6, None)


def test_own_board_needs_scope_read_and_knows_no_teams(models):
    actor = make.member()
    team = make.team(actor.user)
    assert make.api(actor.user, scopes=[Scope.VOTE]).get(API).status_code == 403
    assert make.api(actor.user, scopes=[Scope.READ]).get(API).status_code == 200
    browser = make.browser(actor)
    assert browser.get(f"{API}&team={team.slug}").status_code == 404
    assert browser.get("/api/v1/leaderboard/?board=taste").status_code == 404


def test_token_sees_its_place_beside_the_same_others(models):
    actor, (ada, bob, _cyd) = make.member(), models
    team = make.team(actor.user)
    vote(actor, ada, bob, "left", 30)
    vote(actor, ada, bob, "right", 90, team=team)
    aggregate()
    whole, personal = own(actor), make.api(actor.user, scopes=[Scope.READ]).get(API).json()
    assert (whole["votes"], personal["votes"]) == (120, 30)
    for slug in ("ada", "bob"):
        assert line(personal, slug)["others_score"] == line(whole, slug)["others_score"]
    assert line(personal, "ada")["score"] > line(whole, "ada")["score"]


def test_page_reads_in_a_fixed_number_of_queries(models, django_assert_num_queries):
    actor, (ada, bob, cyd) = make.member(), models
    vote(actor, ada, bob, "left", 6)
    aggregate()
    browser = make.browser(actor)
    browser.get(PAGE)
    with django_assert_num_queries(8):
        browser.get(PAGE)
    vote(actor, bob, cyd, "left", 30)
    with django_assert_num_queries(8):
        browser.get(PAGE)


def test_team_taste_is_read_from_its_newest_snapshot(models):
    member, (ada, bob, cyd) = make.member(), models
    team = make.team(members={Role.MEMBER: [member.user]})
    address = f"/teams/{team.slug}/taste/"
    browser = make.browser(member)
    assert "Too few votes in the team’s newest snapshot" in browser.get(address).text
    cast_in(team, [ada, bob], voters=6, right=80, left=12)
    cast_in(team, [bob, cyd], voters=6, on_site=True, left=80, right=12)
    aggregate()
    cast_in(team, [ada, bob], left=9)  # since the snapshot
    taste = browser.get(f"/api/v1/leaderboard/?board=taste&team={team.slug}").json()
    assert (taste["board"], taste["votes"], taste["voters"]) == ("taste", 184, 6)
    best = line(taste, "bob")
    # Everyone else: the site without the team's votes, of which half count there.
    assert best["others_score"] == pytest.approx(1500, abs=1e-6)
    assert (best["wins"], best["differs"]) == (160, True)
    assert browser.get(f"{address}?format=json").json()["results"] == taste["results"]
    assert "liked more" in browser.get(address).text
    outsider = make.browser(make.member())
    assert outsider.get(address).status_code == 404
    assert outsider.get(f"/api/v1/leaderboard/?board=taste&team={team.slug}").status_code == 404
