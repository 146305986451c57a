# Statements include BEGIN and COMMIT.

from collections.abc import Callable
from typing import TypeVar

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from battles.actions import start_session
from battles.calls.values import CallResult
from battles.labels import custom_categories
from battles.models import AnswerState, Battle
from battles.worker import turn_store
from battles.worker.turn_store import EndedSide
from common.db.execution import is_migrated
from models_registry import drawable_cache
from models_registry.health import repairs
from models_registry.providers import Completion
from tests import make
from tests.turn_steps import store_answer

pytestmark = pytest.mark.django_db(transaction=True)

R = TypeVar("R")
ANSWERED = CallResult(texts=["one two"], completion=Completion(finish_reason="stop"))


@pytest.fixture(autouse=True)
def _caches_are_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    for cached in (drawable_cache.cached_roster, custom_categories.rules, repairs.in_force):
        monkeypatch.setattr(cached, "ttl_s", 600.0)
    make.model()
    make.model()
    repairs.in_force()
    is_migrated(AnswerState)
    start()


def start() -> Battle:
    return start_session(actor=make.member(), prompt="one two three")


def counted(work: Callable[[], R]) -> tuple[R, int]:
    with CaptureQueriesContext(connection) as queries:
        result = work()
    return result, len(queries)


def test_battle_takes_at_most_twenty_statements():
    actor = make.member()
    battle, at_start = counted(lambda: start_session(actor=actor, prompt="one two three"))
    turn = battle.turns.all()[0]
    [(claimed, calls)], at_claim = counted(lambda: turn_store.claim_and_start([turn.pk]))
    assert calls is not None
    at_end = [counted(lambda call=call: store_answer(claimed, call, ANSWERED))[1] for call in calls]
    turn.refresh_from_db()
    assert turn.state == turn.State.DONE
    assert (at_start, at_claim, at_end) == (3, 6, [5, 5])


def test_group_of_turns_takes_statements_of_one():
    turns = [start().turns.all()[0].pk for _ in range(5)]
    started, at_claim = counted(lambda: turn_store.claim_and_start(turns))
    ended = [EndedSide(claimed, call, ANSWERED) for claimed, calls in started for call in calls or []]
    states, at_end = counted(lambda: turn_store.store_answers(ended))
    assert states == ["done"] * 10
    assert (at_claim, at_end) == (6, 5)
