"""State that a side's server wants back comes with its next prompt, encrypted meanwhile."""

import pytest

from accounts.actor import Actor
from battles import actions
from battles.models import AnswerState, Battle, Call, Side
from battles.worker.runner import Engine
from tests import make
from tests.fake_provider import FakeProvider
from tests.provider_streams import SIGNED_REASONING

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = {"role": "assistant", "content": "one two"}


@pytest.fixture
def actor() -> Actor:
    return make.member()


@pytest.fixture
def battle(fake_provider: FakeProvider, engine: Engine, actor: Actor) -> Battle:
    """A battle whose sides have answered once."""
    left, right = (make.model(name, at=fake_provider.base_url) for name in ("signs-answers", "kimi-k9"))
    battle = make.battle(left, right, actor=actor)
    engine.answer(battle.turns.get().pk)
    return battle


def sent_answers(battle: Battle, engine: Engine, actor: Actor, fake_provider: FakeProvider) -> dict[str, object]:
    """Ask again; return the assistant's message in each model's request."""
    engine.answer(actions.follow_up(actor=actor, battle=battle, prompt="and three?").pk)
    return {
        request["model"]: request["messages"][1] for request in fake_provider.requests if len(request["messages"]) == 3
    }


def test_each_side_gets_its_own_state(battle: Battle, engine: Engine, actor: Actor, fake_provider: FakeProvider):
    assert sent_answers(battle, engine, actor, fake_provider) == {
        "signs-answers": ANSWER
        | {"reasoning_details": [SIGNED_REASONING], "extra_content": {"google": {"thought_signature": "c2lnbmVk"}}},
        "kimi-k9": ANSWER | {"reasoning_content": "let me see"},
    }


def test_state_is_stored_encrypted_only(battle: Battle):
    [state] = AnswerState.objects.all()
    assert b"signature" not in bytes(state.encrypted)
    assert not [call for call in Call.objects.values() if "c2lnbmVk" in str(call)]


def test_state_of_a_replaced_model_is_left_out(
    battle: Battle, engine: Engine, actor: Actor, fake_provider: FakeProvider
):
    side = Side.objects.get(battle=battle, model__upstream_name="signs-answers")
    side.model.upstream_name = "honest"
    side.model.save()
    assert sent_answers(battle, engine, actor, fake_provider)["honest"] == ANSWER


def test_state_is_deleted_with_its_answer(battle: Battle):
    actions.delete_session(battle.session)
    assert not AnswerState.objects.exists()
