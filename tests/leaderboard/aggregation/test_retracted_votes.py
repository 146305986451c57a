import pytest

from accounts.claims import visitor_claimed
from accounts.models import AuditEntry
from battles.actions import delete_session
from battles.models import Vote
from leaderboard import actions
from leaderboard.counting import tallies
from leaderboard.counting.vote_arrays import read_board
from leaderboard.errors import VoteCounts, VoteDoesNotCount
from leaderboard.models import EloRating, VoterPairTally
from tests import make
from tests.concurrency import race
from tests.leaderboard.tally_checks import (
    aggregate,
    aggregate_and_read_results,
    assert_tallies_match_votes,
    cast_random_votes,
)
from tests.leaderboard.vote_factory import cast_many, contestants

OPERATOR = Vote.ExcludedReason.OPERATOR


@pytest.mark.django_db
def test_restored_vote_gives_identical_results():
    cast_random_votes(60)
    before = aggregate_and_read_results()
    vote = Vote.objects.filter(mode="blind", origin="draw", excluded_reason="").order_by("order")[10]
    staff = make.user()
    actions.retract(vote, reason=OPERATOR, by=staff, because="cast by a script")
    without = aggregate_and_read_results()
    assert without["checksums"] != before["checksums"]
    assert without["elo"] != before["elo"]
    assert_tallies_match_votes()
    actions.restore(vote, by=staff, because="it was a person")
    assert aggregate_and_read_results() == before
    assert_tallies_match_votes()
    assert list(AuditEntry.objects.values_list("user", "action", "subject", "reason")) == [
        (staff.pk, "vote.restore", f"vote {vote.order}", "it was a person"),
        (staff.pk, "vote.retract", f"vote {vote.order}", "cast by a script"),
    ]


@pytest.mark.slow
@pytest.mark.django_db
def test_retracting_all_votes_of_model_removes_it():
    a, b, c = contestants("a", "b", "c")
    cast_many(a, b, left=12, right=9, tie=3)
    before = aggregate_and_read_results()
    for vote in cast_many(b, c, left=6, both_bad=1):
        aggregate()
        actions.retract(vote, reason=OPERATOR, by=None)
    assert aggregate_and_read_results() == before


@pytest.mark.django_db
def test_retracted_pending_vote_is_not_counted():
    a, b = contestants("a", "b")
    [vote] = cast_many(a, b, left=1)
    actions.retract(vote, reason=OPERATOR, by=None)
    assert not EloRating.objects.exists()
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.votes_excluded) == (1, 0, {"operator": 1})
    actions.restore(vote, by=None)
    assert aggregate().votes_counted == 1


@pytest.mark.django_db
def test_vote_of_deleted_voter_can_still_be_retracted():
    a, b = contestants("a", "b")
    vote, other = cast_many(a, b, left=2)
    aggregate()
    delete_session(vote.battle.session)
    vote.refresh_from_db()
    assert vote.voter.startswith("deleted:")
    voters = VoterPairTally.objects.filter(n__gt=0).values_list("voter", flat=True)
    assert set(voters) == {vote.voter, other.voter}
    assert tallies.rebuild() == 0
    actions.retract(vote, reason=OPERATOR, by=None)
    assert_tallies_match_votes()


@pytest.mark.django_db
def test_counted_vote_moves_to_claiming_account():
    a, b = contestants("a", "b")
    [vote] = cast_many(a, b, left=1)
    visitor = make.visitor().visitor
    Vote.objects.update(voter=f"visitor:{visitor.pk}")
    aggregate()
    user = make.user()
    visitor_claimed.send(sender=type(visitor), visitor=visitor, user=user)
    vote.refresh_from_db()
    assert vote.voter == f"user:{user.pk}"
    assert tallies.rebuild() == 0
    actions.retract(vote, reason=OPERATOR, by=None)
    assert_tallies_match_votes()


@pytest.mark.django_db
def test_vote_is_retracted_or_restored_only_once():
    a, b = contestants("a", "b")
    [vote] = cast_many(a, b, left=1)
    aggregate()
    with pytest.raises(VoteCounts):
        actions.restore(vote, by=None)
    actions.retract(vote, reason=OPERATOR, by=None)
    with pytest.raises(VoteDoesNotCount):
        actions.retract(vote, reason=OPERATOR, by=None)
    assert read_board("overall").counts.total == 0


@pytest.mark.django_db(transaction=True)
def test_concurrent_retractions_subtract_vote_once():
    a, b = contestants("a", "b")
    vote, *_ = cast_many(a, b, left=5)
    aggregate()

    def retract(_):
        try:
            actions.retract(vote, reason=OPERATOR, by=None)
        except VoteDoesNotCount:
            return False
        return True

    assert sum(race(retract, range(20))) == 1
    assert read_board("overall").counts.total == 4


@pytest.mark.slow
@pytest.mark.django_db
def test_more_votes_than_parameters_of_a_statement_are_found():
    [vote] = cast_many(*contestants("a", "b"), left=1)
    assert Vote.objects.with_ids([*range(vote.pk, vote.pk + 65_536)]).get() == vote
    assert Vote.objects.numbered([*range(vote.order, vote.order + 65_536)]).get() == vote
