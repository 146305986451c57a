import threading
from datetime import timedelta

import pytest
from django.db import connection as database
from django.utils import timezone

from battles.calls import slot_queue
from battles.calls.slot_queue import SlotQueue
from battles.calls.values import CallResult
from battles.models import Battle, Call, Side
from battles.worker import turn, turn_store
from battles.worker.runner import Engine
from common.valkey import connections as valkey
from models_registry.models import Breaker
from models_registry.providers import Completion
from tests import make
from tests.fake_provider import FakeProvider
from tests.turn_steps import claim_turn, store_answer
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("limited", ["provider", "model"])
def test_concurrent_calls_stay_within_limit(limited: str):
    model, other = make.model(), make.model()
    if limited == "provider":
        model.provider.calls_at_once = 2
        model.provider.save()
    else:
        model.calls_at_once = 1
        model.save()
        other.calls_at_once = 1
        other.save()
    first, second = make.battle(model, other), make.battle(model, other)
    claimed = claim_turn(first.turns.get().pk)
    calls = turn_store.begin_calls(claimed)
    assert [call.must_wait for call in calls] == [False, False]
    later = claim_turn(second.turns.get().pk)
    waiting = turn_store.begin_calls(later)
    assert [call.must_wait for call in waiting] == [True, True]
    assert not turn_store.acquire_slot(later, waiting[0])
    store_answer(claimed, calls[0], CallResult(texts=["free"], completion=Completion("stop")))
    assert turn_store.acquire_slot(later, waiting[0])
    assert not turn_store.acquire_slot(later, waiting[1])


def test_concurrent_workers_share_slots_exactly():
    model, other = make.model(), make.model()
    model.provider.calls_at_once = 5
    model.provider.save()
    turns = [make.battle(model, other).turns.get().pk for _ in range(20)]
    started: list[bool] = []

    def begin(turn_id: int) -> None:
        try:
            started.extend(not call.must_wait for call in turn_store.begin_calls(claim_turn(turn_id)))
        finally:
            database.close()

    threads = [threading.Thread(target=begin, args=[turn_id]) for turn_id in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(started), sum(started), Call.objects.holding_slots().count()) == (40, 5, 5)


def test_expired_lease_frees_slots():
    model, other = make.model(calls_at_once=1), make.model()
    dead = make.battle(model, other).turns.get()
    turn_store.begin_calls(claim_turn(dead.pk))
    dead.battle.turns.update(lease_until=timezone.now() - timedelta(seconds=1))
    claimed = claim_turn(make.battle(model, other).turns.get().pk)
    assert [call.must_wait for call in turn_store.begin_calls(claimed)] == [False, False]


def battle_with_one_slot(provider: FakeProvider) -> Battle:
    """Create a battle whose two models share a slot."""
    left, right = (make.model(f"honest-{name}", at=provider.base_url) for name in "ab")
    left.provider.calls_at_once, left.provider.first_s = 1, 300
    left.provider.save()
    return make.battle(left, right)


def test_freed_slot_wakes_waiting_call(fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turn, "FIRST_BACKOFF_S", 60.0)  # no attempt by itself
    wait_for(lambda: dict(valkey.connection().pubsub_numsub(slot_queue.CHANNEL))[slot_queue.CHANNEL])
    engine.answer(battle_with_one_slot(fake_provider).turns.get().pk)
    assert set(Call.objects.values_list("state", "error")) == {("done", "")}


def test_waiting_call_gets_its_slot_without_valkey(
    no_valkey: None, fake_provider: FakeProvider, engine: Engine, caplog: pytest.LogCaptureFixture
):
    engine.answer(battle_with_one_slot(fake_provider).turns.get().pk)
    assert set(Call.objects.values_list("state", "error")) == {("done", "")}
    assert "freed slots were not announced" in caplog.text


def test_freed_slots_wake_the_calls_that_came_first():
    queue = SlotQueue()
    with queue.join(1) as first, queue.join(1) as second, queue.join(1) as third, queue.join(2) as other:
        queue.wake(b"1 2")
        assert [woken.is_set() for woken in (first, second, third, other)] == [True, True, False, False]
        queue.wake(b"1 2")
        assert third.is_set()


def test_call_without_slot_is_rate_limited_without_breaker(fake_provider: FakeProvider, engine: Engine):
    hurried = make.provider(fake_provider.base_url.replace("/v1", "/hurried/v1"), first_s=0.5)
    busy = make.model("slow", at=hurried.base_url, calls_at_once=1)
    holder = make.battle(busy, make.model("honest-a", at=fake_provider.base_url))
    turn_store.begin_calls(claim_turn(holder.turns.get().pk))
    battle = make.battle(make.model("honest-b", at=fake_provider.base_url), busy)
    Side.objects.filter(battle=battle).update(redrawn=True)
    engine.answer(battle.turns.get().pk)
    call = Call.objects.get(answer__turn__battle=battle, model=busy)
    assert (call.state, call.error) == ("failed", "rate_limited")
    assert not Breaker.objects.exists()
