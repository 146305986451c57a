"""The board of a review, from its close or while its results are shown."""

import pytest

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Side, Vote
from leaderboard.models import AggregationRun
from models_registry.models import LanguageModel
from reviews import actions
from reviews.models import Review
from reviews.publishing import publish_missing, unpublished
from tests import make
from tests.worlds.benchmarks.samples import Sample

# Votes are numbered at COMMIT.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
PAIRS, PEOPLE = 7, 4


def vote_for(review: Review, better: LanguageModel, people: int = PEOPLE) -> None:
    for _n in range(people):
        person = make.member()
        for _pair in range(PAIRS):
            battle = actions.next_battle(person, review)
            assert battle is not None
            side = Side.objects.get(battle=battle, model=better)
            cast_vote(actor=person, battle=battle, choice=Vote.Choice(side.position))


def test_close_publishes_the_board(sample: Sample, owner: Actor, models: list[LanguageModel]):
    made = actions.create_review(owner=owner.user, run=sample.run, opinions_per_item=PEOPLE + 1)
    review = actions.open_review(made)
    vote_for(review, models[0])
    battle = actions.next_battle(owner, review)
    assert battle is not None
    cast_vote(actor=owner, battle=battle, choice=Vote.Choice.TIE)
    assert not AggregationRun.objects.exists()  # what is hidden does not exist

    actions.close_review(review)

    [run] = AggregationRun.objects.all()
    assert (run.scope, run.votes_counted) == (f"review:{review.public_id}", PAIRS * PEOPLE)
    assert run.votes_excluded == {"knew_answers": 1}
    browser = make.browser(make.member())
    page = browser.get(f"/review/{review.public_id}/results/").content.decode()
    assert "closed early by its owner" in page
    assert page.index("Gazelle ada") < page.index("Gazelle bob")
    results = browser.get(f"/api/v1/reviews/{review.public_id}/results/").json()
    assert [line["model"]["name"] for line in results["results"]] == ["Gazelle ada", "Gazelle bob"]
    assert (results["votes_counted"], results["people"], results["excluded"]) == (28, 4, {"knew_answers": 1})
    assert results["snapshot"] == run.public_id
    assert browser.get(f"/leaderboard/?board=review:{review.public_id}").status_code == 200
    actions.withdraw_review(review)
    assert browser.get(f"/leaderboard/?board=review:{review.public_id}").status_code == 404
    assert browser.get(f"/review/{review.public_id}/results/").status_code == 404


def test_shown_results_follow_the_votes(sample: Sample, owner: Actor, models: list[LanguageModel]):
    made = actions.create_review(owner=owner.user, run=sample.run, opinions_per_item=9, hides_results=False)
    review = actions.open_review(made)
    publish_missing()
    assert not unpublished().exists()
    vote_for(review, models[1], people=2)
    assert unpublished().get() == review

    publish_missing()
    assert AggregationRun.objects.latest("pk").votes_counted == 2 * PAIRS
    assert not unpublished().exists()
    results = f"/review/{review.public_id}/results/"
    assert "These results change with each vote." in make.browser(owner).get(results).content.decode()
    board, asked = f"/leaderboard/?board=review:{review.public_id}", make.browser(make.member())
    assert [reader.get(board).status_code for reader in (make.browser(owner), asked)] == [200, 404]


def test_review_without_votes_closes(review: Review):
    actions.close_review(review)
    assert not unpublished().exists()
    page = make.browser(make.member()).get(f"/review/{review.public_id}/results/").content.decode()
    assert "No counted votes" in page
