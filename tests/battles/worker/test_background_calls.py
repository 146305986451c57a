"""Calls without an answer: their purpose, their lease, and the slots that background ones leave to people."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from battles.calls import slots as call_slots
from battles.calls import store as call_store
from battles.calls.values import CallResult, PlannedCall, PreparedCall
from battles.models import Call
from battles.worker import turn_store
from models_registry.models import LanguageModel
from models_registry.providers import Completion, FailureCode
from tests import make
from tests.turn_steps import claim_turn, store_answer

pytestmark = pytest.mark.django_db(transaction=True)


def item_calls(model: LanguageModel, number: int) -> list[PreparedCall]:
    """Start as many of `number` background calls as find a slot."""
    with transaction.atomic():
        may_start = call_slots.take_slots([model] * number, background=True)
        messages = [{"role": "user", "content": "x"}]
        plan = PlannedCall(model, messages, purpose=Call.Purpose.ITEM, lease=timedelta(minutes=9))
        return call_store.insert_started([plan] * sum(may_start), {})


@pytest.mark.parametrize(("limit", "started"), [(1, 1), (2, 1), (4, 3), (8, 6), (None, 3)])
def test_background_calls_leave_headroom(limit: int | None, started: int, settings):
    settings.ARENA_BACKGROUND_CALLS = 3
    model = make.model()
    model.provider.calls_at_once = limit
    model.provider.save()
    assert (len(item_calls(model, 2)), len(item_calls(model, 20))) == (min(2, started), max(started - 2, 0))


def test_background_calls_yield_to_a_waiting_person():
    model = make.model()
    model.provider.calls_at_once = 4
    model.provider.save()
    battles = [make.battle(model, make.model()) for _ in range(3)]
    claims = [claim_turn(battle.turns.get().pk) for battle in battles]
    calls = [call for claim in claims for call in turn_store.begin_calls(claim)]
    assert sorted(call.must_wait for call in calls) == [False] * 4 + [True] * 2
    running = [number for number, call in enumerate(calls) if not call.must_wait]
    for number in running[:3]:
        store_answer(claims[number // 2], calls[number], CallResult(completion=Completion("stop")))
    assert item_calls(model, 1) == []
    waiting = next(number for number, call in enumerate(calls) if call.must_wait)
    for claim, call in ((claims[waiting // 2], calls[waiting]), (claims[2], calls[5])):
        turn_store.acquire_slot(claim, call)
        store_answer(claim, call, CallResult(completion=Completion("stop")))
    assert len(item_calls(model, 9)) == 2  # one person's call goes on, and one slot stays free


def test_single_slot_waits_for_a_quiet_minute():
    model = make.model(calls_at_once=1)
    claim = claim_turn(make.battle(model, make.model()).turns.get().pk)
    for call in turn_store.begin_calls(claim):
        store_answer(claim, call, CallResult(completion=Completion("stop")))
    assert item_calls(model, 1) == []
    Call.objects.update(started_at=timezone.now() - timedelta(seconds=61))
    assert len(item_calls(model, 2)) == 1


def test_call_of_a_run_keeps_its_slot_while_its_lease_holds():
    model = make.model(calls_at_once=2)
    item_calls(model, 1)
    assert Call.objects.holding_slots().count() == 1
    Call.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert not Call.objects.holding_slots().exists()
    assert not Call.objects.abandoned().exists()  # its run requeues it


def test_call_without_an_answer_needs_a_lease():
    with pytest.raises(IntegrityError, match="a_call_without_an_answer_carries_its_own_lease"):
        Call.objects.create(model=make.model(), purpose=Call.Purpose.ITEM, attempt=1, fence=0)


def test_stored_results_close_each_call_once():
    calls = item_calls(make.model(), 2)
    done = CallResult(texts=["yes"], completion=Completion("stop", 5, 7), first_token_ms=3, total_ms=9)
    failed = CallResult(error=FailureCode.CUT, was_sent=True)
    with transaction.atomic():
        assert set(call_store.store_results(list(zip(calls, (done, failed), strict=True)))) == {
            call.row.pk for call in calls
        }
    stored = Call.objects.order_by("pk").values_list("state", "error", "prompt_tokens", "completion_tokens", "total_ms")
    assert list(stored) == [("done", "", 5, 7, 9), ("failed", "cut", 1, 0, 0)]
    with transaction.atomic():
        assert call_store.store_results([(calls[0], failed)]) == {}
    assert Call.objects.filter(state="done").count() == 1
