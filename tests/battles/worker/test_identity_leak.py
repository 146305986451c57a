"""Votes on answers that name their model are kept, not counted and explained."""

import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Battle, Turn, Vote
from battles.worker.runner import Engine
from leaderboard.models import EloRating
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)


def answered_battle(fake_provider: FakeProvider, engine: Engine, prompt: str, *, actor: Actor) -> Battle:
    """Return a battle with `prompt` as both answers: honest fake models repeat it."""
    left = make.model("honest-a", at=fake_provider.base_url, name="Wombat 9B", aliases=["wombat"])
    right = make.model("honest-b", at=fake_provider.base_url, name="Quokka 3")
    battle = make.battle(left, right, actor=actor, prompt=prompt)
    engine.answer(battle.turns.get().pk)
    return battle


@pytest.mark.parametrize(
    "prompt", ["this is **Wom**bat here", "W\u200bombat", "Ｗｏｍｂａｔ", "so w o m b a t then", "I am ChatGPT"]
)
def test_vote_on_leaking_answer_is_kept_and_not_counted(
    fake_provider: FakeProvider, engine: Engine, client: Client, prompt: str
):
    member = make.user()
    client.force_login(member)
    battle = answered_battle(fake_provider, engine, prompt, actor=Actor(user=member, network="127.0.0.1"))
    before = client.get(f"/api/v1/battles/{battle.public_id}/").content
    assert b"leak" not in before
    assert b"leaks_identity" not in before
    page = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}, follow=True).content.decode()
    vote = Vote.objects.get()
    assert (vote.excluded_reason, vote.counts) == ("identity_leak", False)
    assert "This vote does not count" in page
    assert "an answer revealed a model’s name" in page
    assert client.get(f"/api/v1/battles/{battle.public_id}/").json()["vote"]["excluded_reason"] == "identity_leak"
    assert not EloRating.objects.exists()


def test_name_of_other_model_is_no_leak(fake_provider: FakeProvider, engine: Engine):
    battle = answered_battle(fake_provider, engine, "is a quokka 4 better", actor=make.visitor())
    assert not Answer.objects.filter(turn__battle=battle, leaks_identity=True).exists()


def test_leak_in_failed_answer_survives_regeneration(db):
    battle = make.answered_battle(make.model(), make.model())
    turn = make.turn(battle)
    turn.answers.update(state=Answer.State.DONE, text="an answer")
    turn.answers.filter(side__position="left").update(
        state=Answer.State.FAILED, text="I am Wom", error="cut", leaks_identity=True
    )
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.DONE)
    actor = Actor(visitor=battle.session.owner_visitor, network="127.0.0.1")
    actions.regenerate(actor=actor, battle=battle)
    turn.answers.update(state=Answer.State.DONE, text="another answer")
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.DONE)
    assert actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE).excluded_reason == "identity_leak"
