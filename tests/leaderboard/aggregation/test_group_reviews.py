from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db.models.functions import Now
from django.utils import timezone

from accounts import actions as accounts_actions
from accounts.models import Invitation
from battles.models import Vote
from leaderboard import actions
from leaderboard.aggregation import anomalies
from leaderboard.counting import reviews, tallies
from leaderboard.counting.vote_log import PendingVotes
from leaderboard.models import AnomalyReview, EloRating
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.aggregation.honest_votes import cast_honest_votes, make_models
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import ballot, cast_all

pytestmark = pytest.mark.slow

State, Group = AnomalyReview.State, AnomalyReview.Group
DAY_OF_RING = datetime(2026, 3, 18, 12, tzinfo=UTC)
REVIEWS = "/admin/leaderboard/anomalyreview/"


@pytest.fixture
def models():
    return make_models()


@pytest.fixture
def crowd(models):
    """600 honest votes of 60 voters on the ten days before the ring."""
    cast_honest_votes(models, 600, voters=60, at=lambda vote: DAY_OF_RING - timedelta(days=10 - vote // 60))


def ring_votes(models, *, number: int = 60, first: int = 0, at: datetime = DAY_OF_RING, choice: str = "left"):
    """Cast a vote of each new visitor on bronze, which is on the left."""
    others = [models[slug] for slug in ("gold", "silver", "tin")]
    return cast_all(
        [
            ballot(models["bronze"], others[turn % 3], choice, voter=f"visitor:{1000 + first + turn}", created_at=at)
            for turn in range(number)
        ]
    )


@pytest.fixture
def review(models, crowd):
    ring_votes(models)
    assert aggregate().votes_counted == 660
    assert anomalies.find_anomalies() == 1
    return AnomalyReview.objects.get()


@pytest.mark.django_db
def test_voters_without_names_are_in_no_ring(models):
    named = {vote.voter for vote in ring_votes(models)}
    unnamed = [ballot(models["gold"], models["tin"], "left").voter for _ in range(2_000)]
    assert not named.intersection(unnamed)


@pytest.mark.django_db
def test_ring_is_reviewed_with_evidence(review, models):
    assert (review.group, review.voter, review.model, review.first_day) == (
        Group.DAY, "", models["bronze"], DAY_OF_RING.date(),
    )  # fmt: skip
    assert (review.state, len(review.orders), review.over_cap) == (State.OPEN, 60, False)
    assert (review.evidence["kind"], review.evidence["voters"], review.evidence["observed"]) == ("model", 60, 60)
    assert review.evidence["expected"] < 35
    assert review.effect[0]["model"] == "bronze"
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (600, {"anomaly": 60})
    assert reviews.held_percent_of_overall() == pytest.approx(100 * 60 / 660)
    assert tallies.rebuild() == 0


@pytest.mark.django_db
def test_demoting_ring_is_reviewed(models, crowd):
    others = [models[slug] for slug in ("silver", "bronze", "tin")]
    cast_all(
        [
            ballot(models["gold"], others[turn % 3], "right", voter=f"visitor:{turn}", created_at=DAY_OF_RING)
            for turn in range(60)
        ]
    )
    aggregate()
    assert anomalies.find_anomalies() == 1
    review = AnomalyReview.objects.get()
    assert (review.evidence["model"], review.evidence["tilt"] < 0) == ("gold", True)


@pytest.mark.django_db
def test_later_votes_of_group_with_the_model_are_held(review, models):
    ring_votes(models, number=5, at=DAY_OF_RING + timedelta(days=1))
    cast_all(
        [ballot(models["gold"], models["tin"], "left", voter="visitor:1001", created_at=DAY_OF_RING) for _ in range(2)]
    )
    run = aggregate()
    assert (run.votes_counted, run.votes_excluded) == (602, {"anomaly": 65})
    review.refresh_from_db()
    assert len(review.orders) == 65


@pytest.mark.django_db
def test_pending_votes_are_matched_with_all_reviews_at_once(review, models, django_assert_num_queries):
    for voter in range(3):
        AnomalyReview.objects.create(voter=f"user:{voter}", state=State.EXCLUDED, last_order=1, log_e=9, crossed=1)
    aggregate()
    for votes, queries in (([], 0), ([ballot(models["bronze"], models["tin"], "left")], 2)):
        cast_all(votes)
        pending = PendingVotes.read()
        with django_assert_num_queries(queries):
            reviews.exclude_pending(pending)


@pytest.mark.django_db
def test_member_without_earlier_vote_on_model_is_held_by_look(review, models):
    cast_all([ballot(models["gold"], models["tin"], "left", voter="visitor:7", created_at=DAY_OF_RING)])
    cast_all([ballot(models["bronze"], models["tin"], "left", voter="visitor:7", created_at=DAY_OF_RING)])
    assert aggregate().votes_counted == 602
    assert anomalies.find_anomalies() == 0
    assert len(AnomalyReview.objects.get().orders) == 61
    assert aggregate().votes_counted == 601


@pytest.mark.django_db
def test_look_leaves_restored_vote_counted(review):
    actions.restore(review.votes[0], by=None, because="a known person")
    assert aggregate().votes_counted == 601
    assert anomalies.find_anomalies() == 0
    assert aggregate().votes_counted == 601


@pytest.mark.django_db
def test_side_by_side_votes_of_group_count(review, models):
    cast_all([ballot(models["bronze"], models["tin"], "left", voter="visitor:1001", mode="side_by_side")])
    aggregate()
    assert Vote.objects.get(mode="side_by_side").excluded_reason == ""


@pytest.mark.django_db
def test_voter_over_the_cap_is_excluded_with_newest_votes(models, crowd, settings):
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.05, "groups": 0.001}
    partisan = [ballot(models["bronze"], models["gold"], "left", voter="visitor:7") for _ in range(40)]
    cast_all(partisan)
    aggregate()
    anomalies.find_anomalies()
    review = AnomalyReview.objects.get(voter="visitor:7")
    assert review.over_cap
    cast_all([ballot(models["bronze"], models["gold"], "left", voter="visitor:7") for _ in range(3)])
    assert aggregate().votes_excluded == {}
    actions.decide_review(review, State.EXCLUDED, by=make.user(), because="a script")
    assert aggregate().votes_excluded == {"moderation": 43}


@pytest.mark.django_db
def test_new_members_join_open_review(review, models):
    ring_votes(models, first=500)
    assert aggregate().votes_counted == 660
    assert anomalies.find_anomalies() == 0
    assert len(AnomalyReview.objects.get().orders) == 120


@pytest.mark.django_db
def test_dismissed_group_counts_again_and_stays_accepted(review):
    before = set(EloRating.objects.values_list("pk", "rating", "votes"))
    actions.decide_review(review, State.DISMISSED, by=make.user(), because="a class that tested bronze")
    assert aggregate().votes_counted == 660
    assert anomalies.find_anomalies() == 0
    assert set(EloRating.objects.values_list("pk", "rating", "votes")) == before


@pytest.mark.django_db
def test_excluded_group_is_reversible(review):
    staff = make.user()
    actions.decide_review(review, State.EXCLUDED, by=staff, because="a ring")
    assert aggregate().votes_excluded == {"moderation": 60}
    actions.decide_review(review, State.DISMISSED, by=staff, because="no ring")
    assert (aggregate().votes_counted, tallies.rebuild()) == (660, 0)


@pytest.mark.django_db
def test_votes_over_the_cap_count_until_decision(models, crowd, settings):
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.05, "groups": 0.05}
    ring_votes(models)
    aggregate()
    assert anomalies.find_anomalies() == 1
    review = AnomalyReview.objects.get()
    assert (review.over_cap, len(review.orders), review.state) == (True, 60, State.OPEN)
    assert aggregate().votes_counted == 660
    assert anomalies.find_anomalies() == 0
    actions.decide_review(review, State.EXCLUDED, by=make.user(), because="a ring")
    assert aggregate().votes_excluded == {"moderation": 60}


@pytest.mark.django_db
def test_waiting_review_holds_votes_once_there_is_room(models, crowd, settings):
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.05, "groups": 0.05}
    ring_votes(models)
    aggregate()
    anomalies.find_anomalies()
    settings.ARENA_MAX_HELD_SHARE = {"voters": 0.05, "groups": 0.2}
    assert anomalies.find_anomalies() == 0
    assert not AnomalyReview.objects.get().over_cap
    assert aggregate().votes_excluded == {"anomaly": 60}


@pytest.mark.django_db
def test_queue_and_board_show_held_share(client, review, settings):
    moderator = make.user(is_staff=True)
    names = ["view_vote", "add_votechange", "view_anomalyreview"]
    moderator.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(moderator)
    actions.restore(review.votes[0], by=None, because="a known person")
    aggregate()
    queue = client.get(REVIEWS).content.decode()
    assert "8.9 % of Overall" in queue
    assert "bronze took 60 of 60 votes" in queue
    page = client.get(f"{REVIEWS}{review.pk}/change/").content.decode()
    assert "60 voters" in page
    assert "visitor:1000" in page
    assert "8.9 % of the votes wait for a review" in client.get("/leaderboard/").content.decode()
    AnomalyReview.objects.update(over_cap=True)
    assert "The votes of 1 open review count meanwhile" in client.get(REVIEWS).content.decode()
    AnomalyReview.objects.update(over_cap=False)
    client.post(f"{REVIEWS}{review.pk}/decide/", {"state": "dismissed", "because": "a class"})
    assert set(Vote.objects.values_list("excluded_reason", flat=True)) == {""}


@pytest.mark.django_db
def test_network_of_ring_is_the_group(models, crowd):
    from battles.models import VoteNetwork

    # A week's newcomers of a network are judged by votes before that week.
    first_of_week = datetime(2026, 3, 19, 12, tzinfo=UTC)
    votes = ring_votes(models, at=first_of_week)
    rows = [VoteNetwork(vote=vote, network="f" * 32, day=first_of_week.date()) for vote in votes]
    VoteNetwork.objects.bulk_create(rows)
    aggregate()
    assert anomalies.find_anomalies() == 1
    review = AnomalyReview.objects.get()
    assert (review.group, review.member_key) == (Group.NETWORK, "f" * 32)
    AnomalyReview.objects.forget_networks(before=review.first_day)
    assert AnomalyReview.objects.get().member_key == "f" * 32
    AnomalyReview.objects.forget_networks(before=review.first_day + timedelta(days=1))
    assert AnomalyReview.objects.get().member_key == f"-{review.pk}"
    assert anomalies.find_anomalies() == 0


@pytest.mark.django_db
def test_inviter_is_forgotten_with_their_account(review):
    inviter = make.user()
    AnomalyReview.objects.update(group=Group.INVITATION, member_key=str(inviter.pk))
    # The look names voters without an inviter −1, as this review's key would be if it were read as a number.
    AnomalyReview.objects.update(id=1)
    accounts_actions.delete_account(inviter)
    assert AnomalyReview.objects.get().member_key == "-1"
    cast_all([ballot(review.model, LanguageModel.objects.get(slug="tin"), "left", created_at=DAY_OF_RING)])
    aggregate()
    assert anomalies.find_anomalies() == 0
    assert len(AnomalyReview.objects.get().orders) == 60


def invited_votes(models, inviter, *, voters: int, each: int):
    """Cast votes of newly invited members on bronze, at the beginning of the inviter's four weeks."""
    begin = datetime(2026, 4, 9, 12, tzinfo=UTC)
    for _ in range(voters):
        member = make.user()
        invitation, _ = accounts_actions.invite(by=inviter, email=member.email, expires_at=timezone.now())
        Invitation.objects.filter(pk=invitation.pk).update(used_by=member, used_at=Now())
        voter = f"user:{member.pk}"
        cast_all([ballot(models["bronze"], models["gold"], "left", voter=voter, created_at=begin) for _ in range(each)])


@pytest.mark.django_db
def test_members_invited_by_one_person_are_the_group(models, crowd):
    inviter, other = make.user(), make.user()
    invited_votes(models, inviter, voters=8, each=6)
    invited_votes(models, other, voters=1, each=6)
    aggregate()
    assert anomalies.find_anomalies() == 1
    review = AnomalyReview.objects.get()
    assert (review.group, review.member_key, review.evidence["voters"]) == (Group.INVITATION, str(inviter.pk), 8)
    assert aggregate().votes_excluded == {"anomaly": 48}
    invited_votes(models, inviter, voters=1, each=1)
    invited_votes(models, other, voters=1, each=1)
    aggregate()
    assert anomalies.find_anomalies() == 0
    assert aggregate().votes_excluded == {"anomaly": 49}


def old_accounts_votes(models, *, accounts: int = 20, each: int = 10, first: int = 0, at: datetime = DAY_OF_RING):
    """Cast an honest vote of each account in the crowd's time, then votes on bronze."""
    voters = [f"visitor:{2000 + first + account}" for account in range(accounts)]
    early = at - timedelta(days=9)
    cast_all([ballot(models["gold"], models["tin"], "left", voter=voter, created_at=early) for voter in voters])
    others = [models[slug] for slug in ("gold", "silver", "tin")]
    return cast_all(
        [
            ballot(models["bronze"], others[turn % 3], "left", voter=voter, created_at=at)
            for turn in range(each)
            for voter in voters
        ]
    )


@pytest.fixture
def focused_review(models, crowd):
    old_accounts_votes(models, accounts=10)
    aggregate()
    assert anomalies.find_anomalies() == 1
    return AnomalyReview.objects.get()


@pytest.mark.django_db
def test_ring_of_old_accounts_is_reviewed_and_reversible(focused_review, models):
    assert (focused_review.group, focused_review.model) == (Group.FOCUSED, models["bronze"])
    assert {vote.voter for vote in focused_review.votes} >= {f"visitor:{2000 + account}" for account in range(10)}
    assert focused_review.evidence["observed"] > 0.8 * focused_review.evidence["votes"] > 80
    aggregate()
    assert Vote.objects.filter(voter__startswith="visitor:20", excluded_reason="").count() == 10
    actions.decide_review(focused_review, State.DISMISSED, by=make.user(), because="a test of bronze")
    assert aggregate().votes_counted == 710
    assert anomalies.find_anomalies() == 0
    assert tallies.rebuild() == 0


@pytest.mark.django_db
def test_voters_who_concentrate_join_a_focused_group(focused_review, models):
    old_accounts_votes(models, accounts=1, first=50, at=DAY_OF_RING + timedelta(days=1))
    aggregate()
    assert anomalies.find_anomalies() == 0
    joined = AnomalyReview.objects.get().votes.filter(voter="visitor:2050")
    assert (joined.count(), {vote.excluded_reason for vote in joined}) == (10, {"anomaly"})
