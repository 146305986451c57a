import pytest

from accounts.claims import visitor_claimed
from accounts.models import AuditEntry
from battles.actions import delete_session
from battles.models import Vote
from leaderboard import actions
from leaderboard.aggregation import anomalies
from leaderboard.counting import tallies
from leaderboard.errors import ReviewIsDecided
from leaderboard.models import AnomalyReview, EloRating
from tests import make
from tests.leaderboard.aggregation.honest_votes import cast_honest_votes, make_models
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast, cast_all

pytestmark = pytest.mark.slow

State = AnomalyReview.State


def counted() -> int:
    return aggregate().votes_counted


@pytest.fixture
def models():
    return make_models()


@pytest.fixture
def crowd(models):
    cast_honest_votes(models, 240, voters=24)


def favour_bronze(models, number: int = 40, voter: str = "visitor:9") -> None:
    others = [models[slug] for slug in ("gold", "silver", "tin")]
    cast_all([ballot(models["bronze"], others[turn % 3], "left", voter=voter) for turn in range(number)])


@pytest.fixture
def review(models, crowd):
    favour_bronze(models)
    assert counted() == 280
    assert anomalies.find_anomalies() == 1
    return AnomalyReview.objects.get()


@pytest.mark.django_db
def test_honest_voters_are_not_reviewed(crowd):
    assert counted() == 240
    assert anomalies.find_anomalies() == 0


@pytest.mark.django_db
def test_arena_without_votes_has_no_anomalies():
    assert anomalies.find_anomalies() == 0


@pytest.mark.django_db
def test_voter_favouring_one_model_is_reviewed_with_evidence(review):
    assert (review.voter, review.state, len(review.orders)) == ("visitor:9", State.OPEN, 40)
    assert review.evidence["kind"] == "model"
    assert review.evidence["model"] == "bronze"
    assert review.evidence["observed"] == review.evidence["votes"] == 40
    assert review.evidence["expected"] < 25
    first = review.effect[0]
    assert first["model"] == "bronze"
    assert first["score"][0] > first["score"][1] + 100
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (240, {"anomaly": 40})
    assert tallies.rebuild() == 0


@pytest.mark.django_db
def test_review_is_invisible_to_voter_and_live_elo(models, crowd):
    favour_bronze(models)
    counted()
    before = set(EloRating.objects.values_list("pk", "rating", "votes"))
    anomalies.find_anomalies()
    assert set(EloRating.objects.values_list("pk", "rating", "votes")) == before
    assert all(vote.counts for vote in Vote.objects.filter(voter="visitor:9"))


@pytest.mark.django_db
def test_open_review_also_excludes_new_votes(review, models):
    assert anomalies.find_anomalies() == 0
    favour_bronze(models, 3)
    assert counted() == 240
    review.refresh_from_db()
    assert len(review.orders) == 43


@pytest.mark.django_db
def test_dismissed_review_counts_votes_again(review):
    staff = make.user()
    actions.decide_review(review, State.DISMISSED, by=staff, because="a colleague testing one model")
    assert counted() == 280
    assert anomalies.find_anomalies() == 0
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.action, entry.reason) == (staff, "review.dismissed", "a colleague testing one model")


@pytest.mark.django_db
def test_dismissed_voter_is_reviewed_for_new_votes_only(review, models):
    actions.decide_review(review, State.DISMISSED, by=make.user(), because="fine")
    favour_bronze(models)
    assert counted() == 320
    assert anomalies.find_anomalies() == 1
    assert counted() == 280


@pytest.mark.django_db
def test_excluded_review_removes_votes_from_elo(review, models):
    actions.decide_review(review, State.EXCLUDED, by=make.user(), because="a script")
    assert aggregate().votes_excluded == {"moderation": 40}
    assert sum(EloRating.objects.values_list("votes", flat=True)) == 2 * 240
    favour_bronze(models, 2)
    assert aggregate().votes_excluded == {"moderation": 42}
    assert sum(EloRating.objects.values_list("votes", flat=True)) == 2 * 240


@pytest.mark.django_db
def test_reversed_decision_restores_identical_elo(review):
    before = set(EloRating.objects.values_list("pk", "rating", "votes"))
    staff = make.user()
    actions.decide_review(review, State.EXCLUDED, by=staff, because="a script")
    with pytest.raises(ReviewIsDecided):
        actions.decide_review(review, State.EXCLUDED, by=staff, because="a script")
    actions.decide_review(review, State.DISMISSED, by=staff, because="it was a person")
    assert counted() == 280
    assert set(EloRating.objects.values_list("pk", "rating", "votes")) == before
    actions.decide_review(review, State.EXCLUDED, by=staff, because="a script after all")
    assert counted() == 240


@pytest.mark.django_db
def test_dismissed_review_keeps_other_exclusions(models, crowd):
    favour_bronze(models)
    leaked = cast(models["bronze"], models["gold"], "left", voter="visitor:9", excluded="identity_leak")
    counted()
    anomalies.find_anomalies()
    actions.decide_review(AnomalyReview.objects.get(), State.DISMISSED, by=make.user(), because="fine")
    leaked.refresh_from_db()
    assert leaked.excluded_reason == "identity_leak"


@pytest.mark.django_db
def test_review_moves_to_claiming_account_only(models, crowd):
    visitor = make.visitor().visitor
    favour_bronze(models, voter=f"visitor:{visitor.pk}")
    counted()
    anomalies.find_anomalies()
    delete_session(Vote.objects.filter(voter=f"visitor:{visitor.pk}").first().battle.session)
    review = AnomalyReview.objects.get()
    assert review.voter == f"visitor:{visitor.pk}"
    user = make.user()
    visitor_claimed.send(sender=type(visitor), visitor=visitor, user=user)
    review.refresh_from_db()
    assert review.voter == f"user:{user.pk}"
    actions.decide_review(review, State.DISMISSED, by=make.user(), because="fine")
    assert counted() == 280
