from datetime import timedelta

import pytest
from django.utils import timezone

from battles.actions import sessions
from battles.calls.values import CallResult
from battles.models import Answer, Battle, Session, Turn
from battles.models.sessions import UNDO_WINDOW
from battles.streaming.protocol import TurnEvent, entry, stream_key
from battles.sweep import sweep
from battles.worker import turn_queue, turn_store
from common.valkey import connections
from common.valkey.connections import connection
from tests import make
from tests.turn_steps import claim_turn, store_answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn() -> Turn:
    return make.battle(make.model(), make.model()).turns.get()


def queued_turns() -> int:
    return connection().llen(turn_queue.KEY)


def claim_and_expire(turn: Turn) -> None:
    claimed = claim_turn(turn.pk)
    assert claimed is not None
    Turn.objects.filter(pk=turn.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_expired_lease_requeues_and_wakes_turn(turn: Turn):
    claim_and_expire(turn)
    sweep()
    turn.refresh_from_db()
    assert (turn.state, turn.attempt, queued_turns()) == ("queued", 1, 1)


def test_expired_lease_of_last_attempt_fails_turn(turn: Turn):
    claim_and_expire(turn)
    sweep()
    claim_and_expire(turn)
    sweep()
    turn.refresh_from_db()
    assert turn.state == "done"
    assert set(Answer.objects.values_list("state", "error")) == {("failed", "interrupted")}
    assert Battle.objects.get().is_void
    assert connection().xlen(stream_key(turn.battle.public_id, 0)) == 1


@pytest.mark.usefixtures("no_valkey")
def test_sweep_without_valkey_deletes_discarded_session():
    finished, discarded = (make.answered_battle(make.model(), make.model()) for _ in range(2))
    finished.turns.update(finished_at=timezone.now() - timedelta(seconds=20))
    long_ago = timezone.now() - UNDO_WINDOW - timedelta(seconds=1)
    Session.objects.filter(pk=discarded.session_id).update(discarded_at=long_ago)
    sweep()
    assert Turn.objects.get(battle=discarded).prompt == ""


def test_failed_session_deletion_does_not_stop_others(monkeypatch: pytest.MonkeyPatch):
    first, second = (make.answered_battle(make.model(), make.model()) for _ in range(2))
    Session.objects.update(discarded_at=timezone.now() - UNDO_WINDOW - timedelta(seconds=1))
    delete = sessions.delete_session

    def delete_but_the_first(session: Session, *, voter: str) -> None:
        if session.pk == first.session_id:
            raise RuntimeError("its votes are in no tally")
        delete(session, voter=voter)

    monkeypatch.setattr(sessions, "delete_session", delete_but_the_first)
    sweep()
    assert [bool(battle.turns.get().prompt) for battle in (first, second)] == [True, False]


def test_turn_with_valid_lease_is_not_changed(turn: Turn):
    claim_turn(turn.pk)
    sweep()
    turn.refresh_from_db()
    assert (turn.state, queued_turns()) == ("answering", 0)


def test_lost_wake_up_is_sent_once_by_two_sweeps(turn: Turn):
    Turn.objects.update(queued_at=timezone.now() - timedelta(minutes=1))
    sweep()
    sweep()
    assert queued_turns() == 1


def test_turn_stays_due_when_broker_is_away(turn: Turn, monkeypatch: pytest.MonkeyPatch):
    Turn.objects.update(queued_at=timezone.now() - timedelta(minutes=1))
    with monkeypatch.context() as away:
        away.setattr(connections, "_away_until", float("inf"))
        sweep()
    assert queued_turns() == 0
    sweep()
    assert queued_turns() == 1


def test_requeued_turn_calls_unfinished_side_only(turn: Turn):
    claimed = claim_turn(turn.pk)
    left, _ = turn_store.begin_calls(claimed)
    store_answer(claimed, left, CallResult(texts=["kept"]))
    Turn.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep()
    claimed = claim_turn(turn.pk)
    assert [call.side for call in turn_store.begin_calls(claimed)] == ["right"]


def test_sweep_without_broker_requeues_turn(turn: Turn, settings):
    claim_and_expire(turn)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    sweep()
    turn.refresh_from_db()
    assert turn.state == "queued"


@pytest.mark.parametrize(("last", "entries"), [("text", 2), ("end", 1)])
def test_missing_end_is_published_once(turn: Turn, last: str, entries: int):
    key = stream_key(turn.battle.public_id, 0)
    connection().xadd(key, entry([TurnEvent(last, "left", "word")]))
    Turn.objects.update(state=Turn.State.DONE, finished_at=timezone.now() - timedelta(seconds=10))
    sweep()
    sweep()
    assert connection().xlen(key) == entries


def test_stream_of_finished_turn_is_truncated_once():
    turns = [make.answered_battle(make.model(), make.model()).turns.get() for _ in range(3)]
    minutes_ago, just_now, unread = [stream_key(turn.battle.public_id, 0) for turn in turns]
    for key in (minutes_ago, just_now):
        connection().xadd(key, entry([TurnEvent("text", "left", "private words")]))
        connection().xadd(key, entry([TurnEvent("text", "right", "private words"), TurnEvent("end")]))
    for turn, seconds in zip(turns, (120, 10, 120), strict=True):
        Turn.objects.filter(pk=turn.pk).update(finished_at=timezone.now() - timedelta(seconds=seconds))
    sweep()
    [[emptied_at, fields]] = connection().xrange(minutes_ago)
    assert fields == {"e": '[["end","",""]]'}
    assert (connection().xlen(just_now), connection().exists(unread)) == (2, 0)
    sweep()
    assert connection().xinfo_stream(minutes_ago)["last-generated-id"] == emptied_at
