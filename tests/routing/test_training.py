import hashlib

import numpy as np
import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from battles.models import Battle, Session
from routing.learning.heads import Trained
from routing.learning.router import Router
from routing.models import RouterSnapshot
from routing.training import job, vote_log
from tests.leaderboard.vote_factory import ballot, cast_all, contestants
from tests.routing.prompted_votes import cast_with_prompts

pytestmark = pytest.mark.django_db
State = RouterSnapshot.State


def test_few_votes_train_nothing_and_are_reported(capsys):
    cast_with_prompts(*contestants("ada", "bob"), 29)
    call_command("train_router")
    snapshot = RouterSnapshot.objects.get()
    assert (snapshot.state, bytes(snapshot.parameters)) == (State.FEW_VOTES, b"")
    assert snapshot.message == "29 counted votes with their prompts; 30 are needed."
    assert "too few votes" in capsys.readouterr().out


@pytest.mark.slow
def test_training_learns_which_model_wins_which_prompts(capsys):
    ada, bob = contestants("ada", "bob")
    votes = cast_with_prompts(ada, bob, 200)
    call_command("train_router")
    snapshot = RouterSnapshot.objects.published().get()
    assert (snapshot.votes, snapshot.trained_until) == (200, votes[-1].order)
    assert snapshot.checksum == hashlib.sha256(snapshot.parameters).hexdigest()
    assert next(head["name"] for head in snapshot.heads if head["passed"]) == "labels"
    router = Router.from_bytes(bytes(snapshot.parameters))
    code = router.scores([ada.pk, bob.pk], ["coding"], ["python function"]).theta
    poem = router.scores([ada.pk, bob.pk], ["creative_writing"], ["a poem"]).theta
    assert code[0] > code[1]
    assert poem[0] < poem[1]
    assert len(snapshot.prices) == 21
    assert "labels" in capsys.readouterr().out


def test_votes_of_draws_and_auto_mode_are_read_others_are_not():
    ada, bob = contestants("ada", "bob")
    drawn = cast_with_prompts(ada, bob, 2)
    routed = cast_with_prompts(ada, bob, 2, origin=Battle.Origin.ROUTER)
    cast_with_prompts(ada, bob, 2, excluded="moderation")
    cast_with_prompts(ada, bob, 2, mode=Battle.Mode.SIDE_BY_SIDE)
    hidden, deleted = cast_with_prompts(ada, bob, 2)
    Battle.objects.filter(pk=hidden.battle_id).update(hidden_at=Now())
    Session.objects.filter(battles=deleted.battle_id).update(discarded_at=Now())
    log = vote_log.read_votes()
    assert log.order.tolist() == [vote.order for vote in drawn + routed]
    assert log.is_drawn.tolist() == [True, True, False, False]
    assert log.prompts[0] == ["write python function 0"]
    assert log.labels[0] == ["coding", "language:en"]


def test_frequent_voter_weighs_less():
    ada, bob = contestants("ada", "bob")
    cast_with_prompts(ada, bob, 4, voter="visitor:busy")
    cast_with_prompts(ada, bob, 1)
    assert vote_log.read_votes().votes.weight.tolist() == [0.5, 0.5, 0.5, 0.5, 1]


@pytest.mark.slow
def test_second_beat_of_a_day_trains_nothing():
    cast_with_prompts(*contestants("ada", "bob"), 40)
    assert job.train_if_due() is not None
    assert job.train_if_due() is None
    assert RouterSnapshot.objects.count() == 1


@pytest.mark.slow
def test_router_worse_on_newer_votes_is_not_published(monkeypatch):
    ada, bob = contestants("ada", "bob")
    cast_with_prompts(ada, bob, 200)
    assert job.train_router(slot="first").state == State.PUBLISHED
    cast_with_prompts(ada, bob, 100)
    off = [
        {"name": name, "passed": False, "gain": 0, "lower_bound": -1, "scale": 0.0} for name in ("labels", "n-grams")
    ]
    train = job.train
    monkeypatch.setattr(job, "train", lambda votes: Trained(train(votes).router, off))
    second = job.train_router(slot="second")
    assert second.state == State.WORSE
    assert "On 100 newer votes its log loss is" in second.message
    assert RouterSnapshot.objects.published().get().slot == "first"


@pytest.mark.slow
def test_router_that_is_as_good_replaces_the_published_one():
    ada, bob = contestants("ada", "bob")
    cast_with_prompts(ada, bob, 200)
    job.train_router(slot="first")
    cast_with_prompts(ada, bob, 100)
    assert job.train_router(slot="second").state == State.PUBLISHED
    assert RouterSnapshot.objects.published().first().slot == "second"


@pytest.mark.slow
def test_failed_training_is_recorded(monkeypatch):
    cast_with_prompts(*contestants("ada", "bob"), 40)
    monkeypatch.setattr(job, "find_prices", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        job.train_router(slot="today")
    assert RouterSnapshot.objects.get().state == State.FAILED


@pytest.mark.slow
def test_snapshot_never_changes():
    cast_with_prompts(*contestants("ada", "bob"), 40)
    snapshot = job.train_router(slot="today")
    with pytest.raises(DatabaseError), transaction.atomic():
        RouterSnapshot.objects.filter(pk=snapshot.pk).update(votes=0)


@pytest.mark.slow
def test_models_of_one_pair_have_finite_strengths():
    ada, bob = contestants("ada", "bob")
    votes = [ballot(ada, bob, "left") for _ in range(35)]
    cast_all(votes)
    router = Router.from_bytes(bytes(job.train_router(slot="today").parameters))
    scores = router.scores([ada.pk, bob.pk], [], [""])
    assert np.isfinite(scores.theta).all()
    assert scores.theta[0] > scores.theta[1]
