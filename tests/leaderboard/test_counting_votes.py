"""Counting: whatever the order, batching or accident, the same votes give the same tallies."""

import random
from collections import Counter

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from accounts.claims import visitor_claimed
from accounts.models import AuditEntry
from battles.actions import delete_session
from battles.models import Vote
from leaderboard import actions, aggregation, schedule, tallies
from leaderboard.board_votes import read_board, read_boards
from leaderboard.errors import VoteCounts, VoteDoesNotCount
from leaderboard.models import AggregationRun, EloRating, PairTally, Standing, VoterPairTally
from leaderboard.rating.counts import OUTCOMES
from leaderboard.scopes import boards_of
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.ballots import cast, cast_many, contestants
from tests.leaderboard.crowd import at_once, elsewhere

OPERATOR = Vote.ExcludedReason.OPERATOR


def aggregate() -> AggregationRun | None:
    return aggregation.aggregate(slot=schedule.new_slot())


def everything_counted() -> dict[str, object]:
    """All that a board's numbers are made of, and the numbers."""
    run = aggregate()
    assert run is not None
    columns = ("left__slug", "right__slug", "outcome", "n")
    figures = ("score", "ci_low", "ci_high", "rank", "votes", "style_score", "design_effect")
    return {
        "pairs": set(PairTally.objects.filter(n__gt=0).values_list("scope", *columns)),
        "voters": set(VoterPairTally.objects.filter(n__gt=0).values_list("voter", *columns)),
        "checksums": {board.scope: board.tallies_checksum for board in AggregationRun.objects.newest_of_each_board()},
        "standings": set(standings_now().values_list("run__scope", "model__slug", *figures)),
        "elo": set(EloRating.objects.values_list("model__slug", "rating", "votes")),
    }


def assert_every_counted_vote_is_in_the_tallies() -> None:
    counted = Vote.objects.filter(processing=Vote.Processing.PROCESSED)
    filed = Counter(scope for vote in counted for scope in boards_of(vote.mode, vote.categories, vote.language))
    assert {scope: board.counts.total for scope, board in read_boards().items()} == filed
    assert sum(VoterPairTally.objects.values_list("n", flat=True)) == filed["overall"]
    assert filed["overall"] + filed["side-by-side"] == counted.count()
    assert sum(n for scope, n in filed.items() if scope.startswith("language:")) == filed["overall"]
    assert tallies.rebuild() == 0


def standings_now() -> QuerySet[Standing]:
    return Standing.objects.filter(run__in=AggregationRun.objects.newest_of_each_board())


def some_votes(number: int) -> None:
    """Votes among four models by a few voters who return, some of them side by side; every tenth does not count."""
    chance = random.Random(number)
    models = list(LanguageModel.objects.order_by("slug")) or contestants("a", "b", "c", "d")
    for _ in range(number):
        left, right = chance.sample(models, 2)
        reason = "identity_leak" if chance.random() < 0.1 else ""
        cast(
            left, right, chance.choice(OUTCOMES), voter=f"user:{chance.randrange(9)}", excluded=reason,
            categories=chance.choice([[], ["coding"], ["coding", "maths"]]),
            language=chance.choice(["en", "fr", "und"]),
            mode=chance.choice(["blind", "blind", "blind", "side_by_side"]),
            style={side: {"tokens": chance.randrange(90), "bold": chance.randrange(3)} for side in ("left", "right")},
        )  # fmt: skip


@pytest.mark.django_db
def test_votes_are_counted_by_pair_side_outcome_and_voter():
    a, b = contestants("a", "b")
    for left, right, choice, voter in [(a, b, "left", "x"), (a, b, "left", "y"), (b, a, "tie", "x")]:
        cast(left, right, choice, voter=voter)
    cast(a, b, "left", voter="x", excluded="identity_leak")
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.votes_excluded) == (4, 3, {"identity_leak": 1})
    assert run.last_order == 4
    assert set(PairTally.objects.filter(scope="overall").values_list("left", "right", "outcome", "n")) == {
        (a.pk, b.pk, "left", 2),
        (b.pk, a.pk, "tie", 1),
    }
    assert set(VoterPairTally.objects.values_list("voter", "left", "right", "outcome", "n")) == {
        ("x", a.pk, b.pk, "left", 1),
        ("y", a.pk, b.pk, "left", 1),
        ("x", b.pk, a.pk, "tie", 1),
    }
    assert list(Vote.objects.order_by("order").values_list("processing", flat=True)) == [
        *["processed"] * 3,
        "excluded",
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("batches", [1, 2, 7, 60])
def test_any_batching_gives_the_same_tallies(batches):
    for _ in range(batches):
        some_votes(60 // batches)
        aggregate()
    counted = Vote.objects.filter(excluded_reason="")
    facts = list(counted.blind().values_list("voter", "model_left__slug", "model_right__slug", "choice"))
    filed = [
        (scope, vote.model_left.slug, vote.model_right.slug, vote.choice)
        for vote in counted
        for scope in boards_of(vote.mode, vote.categories, vote.language)
    ]
    tallied = everything_counted()
    assert tallied["voters"] == {(*fact, n) for fact, n in Counter(facts).items()}
    assert tallied["pairs"] == {(*pair, n) for pair, n in Counter(filed).items()}
    assert_every_counted_vote_is_in_the_tallies()


@pytest.mark.django_db(transaction=True)
def test_two_workers_and_people_who_go_on_voting_lose_and_double_nothing():
    models = contestants("a", "b", "c")

    def vote_or_work(number):
        if number % 6:
            cast(models[number % 3], models[(number + 1) % 3], "left")
            return 0
        run = aggregate()
        return run.votes_taken if run else 0

    taken = sum(at_once(vote_or_work, range(72)))
    last = aggregate()
    assert last.votes_counted == taken + last.votes_taken == 60
    assert_every_counted_vote_is_in_the_tallies()


@pytest.mark.django_db(transaction=True)
def test_a_vote_that_somebody_holds_waits_and_so_do_those_after_it():
    a, b = contestants("a", "b")
    votes = cast_many(a, b, left=5)

    with transaction.atomic():
        Vote.objects.select_for_update().get(pk=votes[2].pk)
        run = elsewhere(aggregate)
    assert (run.votes_taken, run.votes_counted, run.last_order) == (2, 2, 2)
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.last_order) == (3, 5, 5)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["count_pending", "read_boards", "_votes_excluded", "fit_board", "_store"])
def test_a_crash_between_two_steps_leaves_nothing_half_done(step, monkeypatch):
    a, b = contestants("a", "b")
    cast_many(a, b, left=4, right=3)
    owner = tallies if hasattr(tallies, step) else aggregation
    healthy = getattr(owner, step)

    def crash(*args, **named):
        healthy(*args, **named)
        raise RuntimeError("the worker ran out of luck")

    with monkeypatch.context() as accident:
        accident.setattr(owner, step, crash)
        with pytest.raises(RuntimeError):
            aggregation.aggregate(slot="unlucky")
    failed = AggregationRun.objects.get()
    assert (failed.state, failed.error) == ("failed", "RuntimeError: the worker ran out of luck")
    assert Vote.objects.pending().count() == 7
    assert not PairTally.objects.exists()
    assert aggregate().votes_counted == 7
    assert_every_counted_vote_is_in_the_tallies()


@pytest.mark.django_db
def test_retracting_and_restoring_a_vote_gives_the_same_bits():
    some_votes(60)
    before = everything_counted()
    vote = Vote.objects.filter(processing=Vote.Processing.PROCESSED).order_by("?").first()
    staff = make.user()
    actions.retract(vote, reason=OPERATOR, by=staff, because="cast by a script")
    without = everything_counted()
    assert without["checksums"] != before["checksums"]
    assert without["elo"] != before["elo"]
    assert_every_counted_vote_is_in_the_tallies()
    actions.restore(vote, by=staff, because="it was a person")
    assert everything_counted() == before
    assert_every_counted_vote_is_in_the_tallies()
    assert list(AuditEntry.objects.values_list("user", "action", "subject", "reason")) == [
        (staff.pk, "vote.restore", f"vote {vote.order}", "it was a person"),
        (staff.pk, "vote.retract", f"vote {vote.order}", "cast by a script"),
    ]


@pytest.mark.django_db
def test_retracting_all_votes_of_a_model_is_as_if_there_were_none():
    a, b, c = contestants("a", "b", "c")
    cast_many(a, b, left=12, right=9, tie=3)
    before = everything_counted()
    for vote in cast_many(b, c, left=6, both_bad=1):
        aggregate()
        actions.retract(vote, reason=OPERATOR, by=None)
    assert everything_counted() == before


@pytest.mark.django_db
def test_a_pending_vote_can_be_retracted_and_is_then_never_counted():
    a, b = contestants("a", "b")
    [vote] = cast_many(a, b, left=1)
    actions.retract(vote, reason=OPERATOR, by=None)
    assert not EloRating.objects.exists()
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.votes_excluded) == (1, 0, {"operator": 1})
    actions.restore(vote, by=None)
    assert aggregate().votes_counted == 1


@pytest.mark.django_db
def test_a_vote_whose_voter_left_is_filed_under_nobody_and_can_still_be_taken_away():
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
    assert_every_counted_vote_is_in_the_tallies()


@pytest.mark.django_db
def test_a_counted_vote_follows_its_visitor_into_an_account():
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
    assert_every_counted_vote_is_in_the_tallies()


@pytest.mark.django_db
def test_a_vote_is_retracted_or_restored_once():
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
def test_twenty_people_retract_the_same_vote_and_it_is_taken_away_once():
    a, b = contestants("a", "b")
    vote, *_ = cast_many(a, b, left=5)
    aggregate()

    def retract(_):
        try:
            actions.retract(vote, reason=OPERATOR, by=None)
        except VoteDoesNotCount:
            return False
        return True

    assert sum(at_once(retract, range(20))) == 1
    assert read_board("overall").counts.total == 4


@pytest.mark.django_db
def test_rebuilding_finds_nothing_to_change_in_a_sound_database(capsys):
    some_votes(40)
    aggregate()
    call_command("rebuild_tallies")
    assert "Nothing to change" in capsys.readouterr().out


@pytest.mark.django_db
def test_rebuilding_repairs_tallies_that_were_tampered_with(capsys):
    some_votes(40)
    before = everything_counted()
    PairTally.objects.filter(pk=PairTally.objects.first().pk).update(n=99)
    VoterPairTally.objects.first().delete()
    call_command("rebuild_tallies")
    assert "2 tallies were wrong" in capsys.readouterr().out
    assert everything_counted() == before


@pytest.mark.django_db
def test_a_tally_is_never_negative():
    a, b = contestants("a", "b")
    cast_many(a, b, left=1)
    aggregate()
    with pytest.raises(IntegrityError):
        PairTally.objects.update(n=-1)
