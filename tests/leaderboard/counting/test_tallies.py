from collections import Counter

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.db.models import F

from battles.models import Vote, VoteCounter
from leaderboard.aggregation import job
from leaderboard.counting import schedule, tallies
from leaderboard.counting.board_keys import board_keys
from leaderboard.counting.vote_log import last_counted
from leaderboard.models import AggregationRun, PairTally, VoterPairTally
from tests.concurrency import race, run_in_other_connection
from tests.leaderboard.tally_checks import (
    aggregate,
    aggregate_and_read_results,
    assert_tallies_match_votes,
    cast_random_votes,
)
from tests.leaderboard.vote_factory import ballot, cast, cast_all, cast_many, contestants


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
    assert last_counted() == 4


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("batches", [1, 2, 7, 20])
def test_any_batching_gives_the_same_tallies(batches):
    for _ in range(batches):
        cast_random_votes(60 // batches)
        aggregate()
    counted = Vote.objects.filter(excluded_reason="")
    voter_pairs = list(counted.on_overall().values_list("voter", "model_left__slug", "model_right__slug", "choice"))
    pairs = [
        (scope, vote.model_left.slug, vote.model_right.slug, vote.choice)
        for vote in counted
        for scope in board_keys(vote.mode, vote.origin, vote.categories, vote.language)
    ]
    results = aggregate_and_read_results()
    assert results["voters"] == {(*pair, n) for pair, n in Counter(voter_pairs).items()}
    assert results["pairs"] == {(*pair, n) for pair, n in Counter(pairs).items()}
    assert_tallies_match_votes()


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_and_votes_count_each_vote_once():
    models = contestants("a", "b", "c")

    def vote_or_work(number):
        if number % 6:
            cast(models[number % 3], models[(number + 1) % 3], "left")
            return 0
        run = job.aggregate(slot=schedule.new_slot())
        return run.votes_taken if run else 0

    taken = sum(race(vote_or_work, range(72)))
    last = aggregate()
    assert last.votes_counted == taken + last.votes_taken == 60
    assert_tallies_match_votes()


@pytest.mark.django_db(transaction=True)
def test_run_does_not_wait_for_locked_votes():
    a, b = contestants("a", "b")
    votes = cast_many(a, b, left=5)

    with transaction.atomic():
        Vote.objects.select_for_update().get(pk=votes[2].pk)
        run = run_in_other_connection(aggregate)
    assert (run.votes_taken, run.votes_counted, run.last_order) == (5, 5, 5)


@pytest.mark.django_db(transaction=True)
def test_vote_that_commits_during_a_run_is_counted_by_next(monkeypatch):
    a, b = contestants("a", "b")
    cast_many(a, b, left=3)
    count_pending = tallies.count_pending

    def cast_and_count(pending):
        run_in_other_connection(lambda: cast_many(a, b, right=2))
        return count_pending(pending)

    with monkeypatch.context() as patch:
        patch.setattr(tallies, "count_pending", cast_and_count)
        run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.last_order) == (3, 3, 3)
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.last_order) == (2, 5, 5)
    assert_tallies_match_votes()


@pytest.mark.django_db(transaction=True)
def test_uncommitted_vote_is_counted_after_its_commit():
    a, b = contestants("a", "b")
    with transaction.atomic():
        cast_all([ballot(a, b, "left")])
        run_in_other_connection(lambda: cast_many(a, b, right=2))
        assert run_in_other_connection(aggregate).votes_counted == 2
    run = aggregate()
    assert (run.votes_taken, run.votes_counted, run.last_order) == (1, 3, 3)
    assert_tallies_match_votes()


@pytest.mark.django_db
def test_missing_numbers_lose_no_vote():
    a, b = contestants("a", "b")
    cast_many(a, b, left=2)
    VoteCounter.objects.update(last_order=F("last_order") + 3)
    cast_many(a, b, right=2)
    assert (aggregate().votes_counted, last_counted()) == (4, 7)
    cast_many(a, b, tie=1)
    assert (aggregate().votes_counted, last_counted()) == (5, 8)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("step", ["count_pending", "read_boards", "_votes_excluded", "fit_boards", "store"])
def test_crash_between_steps_rolls_back_the_run(step, monkeypatch):
    a, b = contestants("a", "b")
    cast_many(a, b, left=4, right=3)
    module = tallies if hasattr(tallies, step) else job
    original = getattr(module, step)

    def crash(*args, **kwargs):
        original(*args, **kwargs)
        raise RuntimeError("crash after the step")

    with monkeypatch.context() as patch:
        patch.setattr(module, step, crash)
        with pytest.raises(RuntimeError):
            job.aggregate(slot="crashed")
    failed = AggregationRun.objects.get()
    assert (failed.state, failed.error) == ("failed", "RuntimeError: crash after the step")
    assert last_counted() == 0
    assert not PairTally.objects.exists()
    assert aggregate().votes_counted == 7
    assert_tallies_match_votes()


@pytest.mark.django_db
def test_rebuild_changes_nothing_in_consistent_database(capsys):
    cast_random_votes(40)
    aggregate()
    call_command("rebuild_tallies")
    assert "Nothing to change" in capsys.readouterr().out


@pytest.mark.django_db
def test_rebuild_repairs_wrong_tallies(capsys):
    cast_random_votes(40)
    before = aggregate_and_read_results()
    PairTally.objects.filter(pk=PairTally.objects.first().pk).update(n=99)
    VoterPairTally.objects.first().delete()
    call_command("rebuild_tallies")
    assert "2 tallies were wrong" in capsys.readouterr().out
    assert aggregate_and_read_results() == before


@pytest.mark.django_db
def test_negative_tally_is_refused():
    a, b = contestants("a", "b")
    cast_many(a, b, left=1)
    aggregate()
    with pytest.raises(IntegrityError):
        PairTally.objects.update(n=-1)
