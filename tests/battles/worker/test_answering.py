import json
import threading
from dataclasses import replace

import pytest

from battles.calls.values import CallResult
from battles.models import Answer, Battle, Call, Turn
from battles.streaming.protocol import FIELD, stream_key
from battles.worker import turn_store
from battles.worker.runner import Engine
from common.valkey.connections import connection
from tests import make
from tests.fake_provider import PAUSE, FakeProvider
from tests.turn_steps import claim_turn, store_answer
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def answers(battle: Battle) -> dict[str, tuple[str, str, str]]:
    return {
        answer.side.position: (answer.state, answer.text.strip(), answer.error)
        for answer in Answer.objects.filter(turn__battle=battle, turn__index=0).select_related("side")
    }


def sides_with_published_text(battle: Battle) -> set[str]:
    entries = connection().xrange(stream_key(battle.public_id, 0))
    events = [event for _, entry in entries for event in json.loads(entry[FIELD.decode()])]
    return {side for name, side, _ in events if name == "text"}


def test_both_sides_answer_and_calls_are_logged(fake_provider: FakeProvider, engine: Engine):
    battle = make.battle(
        make.model("honest-a", at=fake_provider.base_url), make.model("honest-b", at=fake_provider.base_url)
    )
    engine.answer(battle.turns.get().pk)
    assert answers(battle) == {"left": ("done", "one two three", ""), "right": ("done", "one two three", "")}
    assert battle.turns.get().state == "done"
    for call in Call.objects.all():
        assert (call.state, call.finish_reason, call.completion_tokens, call.prompt_tokens) == ("done", "stop", 3, 7)
        assert call.first_token_ms is not None
        assert call.total_ms >= call.first_token_ms
    assert {request["max_tokens"] for request in fake_provider.requests} == {2048}


def test_failed_side_keeps_other_answer(fake_provider: FakeProvider, engine: Engine):
    battle = make.battle(
        make.model("honest", at=fake_provider.base_url), make.model("cut-after-1", at=fake_provider.base_url)
    )
    engine.answer(battle.turns.get().pk)
    assert answers(battle) == {"left": ("done", "one two three", ""), "right": ("failed", "one", "cut")}
    battle.refresh_from_db()
    assert battle.is_void


def test_side_failing_unseen_is_redrawn_in_place(fake_provider: FakeProvider, engine: Engine):
    left, right = make.model("honest-a", at=fake_provider.base_url), make.model("status-500", at=fake_provider.base_url)
    substitute = make.model("honest-b", at=fake_provider.base_url)
    battle = make.battle(left, right)
    engine.answer(battle.turns.get().pk)
    assert answers(battle)["right"] == ("done", "one two three", "")
    side = battle.sides.get(position="right")
    assert (side.model, side.redrawn) == (substitute, True)
    assert [call.model for call in Call.objects.filter(answer__side=side).order_by("pk")] == [right, substitute]
    battle.refresh_from_db()
    assert not battle.is_void
    assert battle.propensity == pytest.approx(1.0)  # no other pair is left


def test_failed_redraw_voids_battle(fake_provider: FakeProvider, engine: Engine):
    left, right = make.model("honest", at=fake_provider.base_url), make.model("status-500", at=fake_provider.base_url)
    make.model("status-503", at=fake_provider.base_url)
    battle = make.battle(left, right)
    engine.answer(battle.turns.get().pk)
    assert answers(battle)["right"] == ("failed", "", "provider_error")
    battle.refresh_from_db()
    assert battle.is_void


def test_stop_ends_both_sides_and_keeps_text(fake_provider: FakeProvider, engine: Engine):
    from battles import actions

    left, right = (make.model("honest", at=fake_provider.base_url) for _ in range(2))
    battle = make.battle(left, right, prompt=f"one {PAUSE} two")
    turn = battle.turns.get()
    answering = threading.Thread(target=engine.answer, args=[turn.pk])
    answering.start()
    wait_for(lambda: sides_with_published_text(battle) == {"left", "right"})
    actions.stop(battle=battle)
    answering.join(30)
    assert not answering.is_alive()
    assert answers(battle) == {"left": ("stopped", "one", ""), "right": ("stopped", "one", "")}
    battle.refresh_from_db()
    assert not battle.is_void


def test_turn_delivered_often_is_answered_once(fake_provider: FakeProvider, engine: Engine):
    battle = make.battle(make.model("slow", at=fake_provider.base_url), make.model("slow", at=fake_provider.base_url))
    turn = battle.turns.get()
    deliveries = [threading.Thread(target=engine.answer, args=[turn.pk]) for _ in range(20)]
    for delivery in deliveries:
        delivery.start()
    for delivery in deliveries:
        delivery.join()
    assert fake_provider.calls["slow"] == 2
    assert Call.objects.count() == 2


def test_stale_fence_cannot_store_answer(fake_provider: FakeProvider):
    battle = make.battle(make.model("honest"), make.model("honest"))
    claimed = claim_turn(battle.turns.get().pk)
    assert claimed is not None
    [call, _] = turn_store.begin_calls(claimed)
    late = replace(claimed, fence=claimed.fence - 1)
    with pytest.raises(turn_store.LeaseLost):
        store_answer(late, call, CallResult(texts=["too late"]))
    assert answers(battle)["left"] == ("queued", "", "")


def test_lease_renewal_keeps_claim_of_closed_turn():
    closed, requeued = (make.battle(make.model(), make.model()).turns.get() for _ in range(2))
    claims = [claim_turn(turn.pk) for turn in (closed, requeued)]
    for call in turn_store.begin_calls(claims[0]):
        store_answer(claims[0], call, CallResult(texts=["one"]))
    turn_store.release(claims[1])
    assert turn_store.renew_leases(claims) == {closed.pk: False}


def test_closing_engine_requeues_running_turn(fake_provider: FakeProvider):
    engine = Engine()
    left, right = (make.model("honest", at=fake_provider.base_url) for _ in range(2))
    battle = make.battle(left, right, prompt=f"one {PAUSE} two")
    turn = battle.turns.get()
    answering = threading.Thread(target=engine.answer, args=[turn.pk])
    answering.start()
    wait_for(lambda: fake_provider.calls["honest"] == 2)
    engine.close()
    answering.join(30)
    assert not answering.is_alive()
    turn.refresh_from_db()
    assert (turn.state, turn.attempt) == (Turn.State.QUEUED, 0)
    assert set(Call.objects.values_list("state", flat=True)) == {"lost"}


def test_closing_engine_requeues_turn_being_claimed(fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch):
    engine, claim_and_start, has_begun = Engine(), turn_store.claim_and_start, threading.Event()

    def claim_late(turn_ids: list[int]):
        has_begun.set()
        wait_for(lambda: engine._closing)
        return claim_and_start(turn_ids)

    monkeypatch.setattr(turn_store, "claim_and_start", claim_late)
    battle = make.battle(make.model("long", at=fake_provider.base_url), make.model("long", at=fake_provider.base_url))
    turn = battle.turns.get()
    answering = threading.Thread(target=engine.answer, args=[turn.pk], daemon=True)
    answering.start()
    assert has_begun.wait(30)
    engine.close()
    answering.join(30)
    assert not answering.is_alive()
    engine.close()  # idempotent
    engine.answer(turn.pk)
    turn.refresh_from_db()
    assert (turn.state, turn.attempt) == (Turn.State.QUEUED, 0)
    assert fake_provider.calls["long"] == 0


def test_follow_up_is_sent_with_own_history_of_side(fake_provider: FakeProvider, engine: Engine):
    left = make.model("honest-a", at=fake_provider.base_url, system_prompt="Be brief.")
    battle = make.battle(left, make.model("honest-b", at=fake_provider.base_url))
    engine.answer(battle.turns.get().pk)
    Answer.objects.filter(side__position="right").update(text="another answer")
    fake_provider.forget()
    engine.answer(make.turn(battle, prompt="and four?").pk)
    sent = {request["model"]: request["messages"] for request in fake_provider.requests}
    assert sent == {
        "honest-a": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "one two three"},
            {"role": "assistant", "content": "one two three "},
            {"role": "user", "content": "and four?"},
        ],
        "honest-b": [
            {"role": "user", "content": "one two three"},
            {"role": "assistant", "content": "another answer"},
            {"role": "user", "content": "and four?"},
        ],
    }
