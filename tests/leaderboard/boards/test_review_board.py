"""Boards of reviews: what they count, and who reads them."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from battles import actions as battle_actions
from battles.models import Vote
from leaderboard import actions
from leaderboard.aggregation.review_boards import publish_series
from leaderboard.boards.queries import BoardQuery, board_names, read_board
from leaderboard.counting import tallies
from leaderboard.counting.board_keys import Board, board_keys
from leaderboard.counting.new_votes import count_of_site
from leaderboard.exports import selection
from leaderboard.models import AggregationRun, EloRating, PairTally
from models_registry.models import LanguageModel
from tests import make
from tests.battles.reviews.owner import reviews  # noqa: F401 (a fixture)
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast_all, cast_many, contestants

pytestmark = pytest.mark.django_db

ADDRESS = "/leaderboard/?board=review:a-review"


@pytest.fixture
def pair() -> list[LanguageModel]:
    return contestants("a", "b")


def cast_in_review(pair: list[LanguageModel], *, series: str = "a-review", team=None, **choices: int) -> list[Vote]:
    numbered = [choice for choice, n in choices.items() for _ in range(n)]
    return cast_all(
        [
            ballot(*pair, choice, series=series, voter=f"user:{1_000_000 + number % 3}", team=team)
            for number, choice in enumerate(numbered)
        ]
    )


def exclude(vote: Vote) -> None:
    actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=make.user())


def test_votes_move_boards_of_their_review_alone(pair):
    cast_many(*pair, left=8, right=4)
    aggregate()
    elo = list(EloRating.objects.order_by("model").values_list("rating", "votes"))
    tallied = list(PairTally.objects.order_by("pk").values())
    cast_in_review(pair, right=6)
    cast_in_review(pair, series="another", left=5)
    site = aggregate()
    run = publish_series("a-review")
    assert (run.votes_counted, run.facts["voters"], run.shown_order) == (6, 3, 6)
    assert sorted(run.standings.values_list("model__slug", "wins", "elo")) == [("a", 0, None), ("b", 6, None)]
    assert (site.votes_counted, site.votes_taken, site.shown_order) == (12, 0, 12)
    assert list(EloRating.objects.order_by("model").values_list("rating", "votes")) == elo
    assert list(PairTally.objects.order_by("pk").values()) == tallied
    assert not AggregationRun.objects.published().filter(scope__startswith="review").exists()
    assert list(board_names()) == ["overall"]
    assert tallies.rebuild() == 0
    assert count_of_site() == 12
    assert board_keys("review", "draw", ["coding"], "en") == []


def test_votes_of_team_in_review_are_on_no_board_of_team(pair):
    team = make.team()
    cast_in_review(pair, team=team, left=6)
    aggregate()
    assert not AggregationRun.objects.published(team=team.pk).exists()
    run = publish_series("a-review", team=team)
    assert (run.team_id, run.votes_counted) == (team.pk, 6)
    assert not AggregationRun.objects.published(team=team.pk).exists()


def test_board_is_published_when_votes_have_changed(pair):
    assert publish_series("a-review") is None
    votes = cast_in_review(pair, left=6, right=3)
    first = publish_series("a-review")
    assert publish_series("a-review") == first
    exclude(votes[0])
    second = publish_series("a-review")
    assert (second.votes_counted, second.votes_excluded, second.shown_change) == (8, {"operator": 1}, 1)
    actions.restore(Vote.objects.get(pk=votes[0].pk), by=make.user())
    aggregate()
    assert AggregationRun.objects.of_review("a-review").first().votes_counted == 9


def test_changed_vote_publishes_no_open_review(pair):
    exclude(cast_in_review(pair, left=6)[0])
    aggregate()
    assert not AggregationRun.objects.of_review("a-review").exists()


def test_snapshots_of_review_recompute(pair, capsys, tmp_path: Path):
    votes = cast_in_review(pair, left=20, right=9, tie=4, both_bad=2)
    cast_many(*pair, left=3)
    cast_in_review(pair, series="another", left=3)
    first = publish_series("a-review")
    exclude(votes[0])
    second = publish_series("a-review")
    for run in (first, second):
        call_command("recompute_snapshot", run.public_id, review="a-review")
    assert "agrees: review:a-review, 35 votes, 2 models" in capsys.readouterr().out
    call_command("export_votes", str(tmp_path / "votes.jsonl"), review="a-review")
    assert len((tmp_path / "votes.jsonl").read_text().splitlines()) == 35
    with pytest.raises(CommandError, match="no such snapshot"):
        call_command("recompute_snapshot", first.public_id)


def test_export_of_review_names_its_board(pair):
    cast_in_review(pair, left=2, tie=1)
    cast_many(*pair, left=1)
    rows = [row for rows in selection.open_export(series="a-review").batches() for row in rows]
    assert [(row.order, row.board, row.choice) for row in rows] == [
        (1, "review:a-review", "left"), (2, "review:a-review", "left"), (3, "review:a-review", "tie"),
    ]  # fmt: skip
    assert [row.order for rows in selection.open_export().batches() for row in rows] == [1]


@pytest.mark.django_db(transaction=True)
def test_votes_cast_on_stored_answers_reach_board(pair):
    for _ in range(6):
        person = make.visitor()
        battle = make.stored_battle(*pair, actor=person)
        left = battle.sides.get(position="left").model
        battle_actions.cast_vote(actor=person, battle=battle, choice="left" if left == pair[0] else "right")
    run = publish_series("a-review")
    assert sorted(run.standings.values_list("model__slug", "wins")) == [("a", 6), ("b", 0)]


@pytest.mark.usefixtures("reviews")
def test_board_is_for_those_whom_its_review_allows(pair, client: Client):
    cast_in_review(pair, left=6)
    run = publish_series("a-review")
    member = make.browser(make.member())
    for refused in (client.get(ADDRESS), member.get(f"{ADDRESS}x"), make.api().get(f"/api/v1{ADDRESS}")):
        assert refused.status_code == 404
    page = member.get(ADDRESS).text
    assert "Review of a-review" in page
    assert "data-stream" not in page
    assert run.public_id not in page.replace(f'data-snapshot="{run.public_id}"', "")
    assert "review:a-review" not in member.get("/leaderboard/").text
    payload = member.get(f"{ADDRESS}&format=json").json()
    assert (payload["board"], payload["votes_counted"], payload["live"]) == ("review:a-review", 6, None)
    assert [line["model"]["id"] for line in payload["results"]] == ["a", "b"]
    for address in (f"snapshots/{run.public_id}/", "charts/?board=review:a-review", "snapshots/?board=review:a-review"):
        answer = member.get(f"/leaderboard/{address}")
        assert answer.status_code == 404 or run.public_id not in answer.text


def test_board_without_owner_of_reviews_is_unknown(pair):
    cast_in_review(pair, left=6)
    publish_series("a-review")
    assert make.browser(make.member()).get(ADDRESS).status_code == 404
    read = read_board(BoardQuery(board="review:a-review", series="a-review"))
    assert read["votes_counted"] == 6


@pytest.mark.parametrize("name", ["review:a-review", "team:1/review:a-review"])
def test_name_of_reader_is_no_key_of_review(name: str):
    assert Board(name).scope == ""
    assert Board.parse("review:a-review") == Board.of_review("a-review")
    assert Board.of_review("a-review").scope == "review:a-review"
