import re

import pytest
from django.urls import reverse

from battles.models import Vote
from leaderboard.aggregation import fit_boards
from leaderboard.boards.dropped_votes import dropped_votes
from leaderboard.boards.facts import describe_facts
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> AggregationRun:
    ada, bob = contestants("ada", "bob")
    cast_many(ada, bob, left=24, right=20)
    run = aggregate()
    assert run is not None
    return run


def test_snapshot_names_votes_that_hold_the_first_place(run, client):
    drop = run.facts["drops_first"]
    assert (drop["votes"], drop["first"], sum(kind["votes"] for kind in drop["ballots"])) == (5, "bob", 5)
    facts = {fact.name: fact for fact in describe_facts(run.facts, {"bob": "Bob"})}
    fact = facts["Votes that hold the first place"]
    assert (fact.value, "without them Bob would be first" in fact.hint) == ("5", True)
    assert "Without 5 particular votes, another model would be first." in client.get("/leaderboard/").content.decode()


def test_dropped_votes_are_the_newest_of_their_kind(run):
    votes = dropped_votes(run)
    assert [vote.order for vote in votes] == sorted(vote.order for vote in votes)
    assert len(votes) == 5
    for vote in votes:
        newer = Vote.objects.filter(
            model_left__slug=vote.left, model_right__slug=vote.right, choice=vote.choice, order__gt=vote.order
        )
        assert set(newer.values_list("order", flat=True)) <= {other.order for other in votes}


def test_copied_fact_lists_votes_of_the_snapshot_it_is_from(run, monkeypatch):
    first = AggregationRun.objects.snapshots("language:und").get()
    monkeypatch.setattr(fit_boards, "THOROUGH_BELOW_VOTES", 0)
    cast_many(*LanguageModel.objects.order_by("slug"), left=10)
    aggregate()
    second = AggregationRun.objects.snapshots("language:und").first()
    assert (second.votes_counted, second.facts["drops_first_of"]) == (54, first.public_id)
    assert dropped_votes(second) == dropped_votes(first) == dropped_votes(run)


def test_admin_lists_dropped_votes_with_links(run, admin_client):
    page = admin_client.get(reverse("admin:leaderboard_aggregationrun_change", args=[run.pk])).content.decode()
    for vote in dropped_votes(run):
        assert reverse("admin:battles_vote_change", args=[vote.pk]) in page
    assert "A is better</div>" in page


def test_admin_names_sides_of_evidence_a_and_b(run, admin_client):
    tallies = " ".join(admin_client.get("/admin/leaderboard/pairtally/").text.split())
    assert re.findall(r'class="text"> ?<a href="[^"]*">(Model \w|Choice)</a>', tallies) == [
        "Model A",
        "Model B",
        "Choice",
    ]
    assert 'title="A is better"' in tallies or ">A is better</a>" in tallies
    vote = admin_client.get(reverse("admin:battles_vote_change", args=[Vote.objects.first().pk])).text
    assert ("Model A:" in vote, "A is better" in vote, "left is better" in vote) == (True, True, False)


def test_board_without_facts_lists_no_votes(run):
    assert dropped_votes(AggregationRun(scope="overall", facts={})) == []
    assert dropped_votes(AggregationRun(scope="imported:x", facts=run.facts)) == []
