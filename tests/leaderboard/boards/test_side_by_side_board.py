import pytest
from django.core.management import call_command

from battles.models import Vote
from leaderboard import actions
from leaderboard.aggregation.job import aggregate
from leaderboard.counting import tallies
from leaderboard.counting.vote_log import PendingVotes
from leaderboard.models import AggregationRun, EloRating, PairTally, VoterPairTally
from tests.leaderboard.public_data.exports import rows
from tests.leaderboard.vote_factory import cast, contestants

pytestmark = pytest.mark.django_db

OPEN = "side_by_side"


@pytest.fixture
def voted():
    """Three blind votes, and seven side-by-side votes for the other model."""
    first, second = contestants("first", "second")
    for _ in range(3):
        cast(first, second, "left", categories=["coding"], language="fr")
    for _ in range(7):
        cast(first, second, "right", mode=OPEN, categories=["coding"], language="fr")
    return first, second


def scopes() -> dict[str, int]:
    counted = {}
    for scope, n in PairTally.objects.values_list("scope", "n"):
        counted[scope] = counted.get(scope, 0) + n
    return counted


def test_side_by_side_vote_counts_on_its_board_only(voted):
    assert tallies.count_pending(PendingVotes.read()) == 10
    assert scopes() == {"overall": 3, "category:coding": 3, "language:fr": 3, "side-by-side": 7}
    assert sum(VoterPairTally.objects.values_list("n", flat=True)) == 3


def test_side_by_side_vote_does_not_move_elo(voted):
    first, second = voted
    assert EloRating.objects.get(pk=first.pk).votes == 3
    assert EloRating.objects.get(pk=first.pk).rating > EloRating.objects.get(pk=second.pk).rating


@pytest.mark.slow
def test_side_by_side_snapshot_can_be_recomputed(voted, client, tmp_path):
    aggregate(slot="1")
    board = client.get("/api/v1/leaderboard/?board=side-by-side").json()
    assert (board["votes_counted"], board["title"]) == (7, "Side by side")
    assert {line["model"]["id"]: line["elo"] for line in board["results"]} == {"first": None, "second": None}
    assert max(board["results"], key=lambda line: line["score"])["model"]["id"] == "second"
    for scope in ("side-by-side", "overall", "category:coding"):
        call_command("recompute_snapshot", AggregationRun.objects.snapshots(scope)[0].public_id)
    assert {row.board for row in rows(tmp_path, "--snapshot", board["snapshot"])} == {"side-by-side"}
    assert {row.board for row in rows(tmp_path)} == {"overall"}
    assert b"Side by side" in client.get("/leaderboard/?board=side-by-side").content


def test_side_by_side_vote_is_excluded_and_restored(voted):
    aggregate(slot="1")
    vote = Vote.objects.filter(mode=OPEN).first()
    actions.retract(vote, reason=Vote.ExcludedReason.OPERATOR, by=None)
    assert scopes() == {"overall": 3, "category:coding": 3, "language:fr": 3, "side-by-side": 6}
    vote.refresh_from_db()
    actions.restore(vote, by=None)
    assert scopes()["side-by-side"] == 7
    assert tallies.rebuild() == 0


def test_only_blind_board_is_described_as_blind(voted, client):
    aggregate(slot="1")
    notes = {}
    for board in ("overall", "side-by-side"):
        page = client.get("/leaderboard/", {"board": board}, headers={"HX-Request": "true"}).text
        notes[board] = ("without knowing who wrote them" in page, "Names were known" in page)
    assert notes == {"overall": (True, False), "side-by-side": (False, True)}
