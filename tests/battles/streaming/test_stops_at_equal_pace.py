"""A stop at equal pace ends both sides alike."""

import threading
from typing import Any

import msgspec
import pytest

from battles import actions
from battles.calls.values import CallResult
from battles.models import Answer, Battle, Turn
from battles.payloads import battle_payload
from battles.queries import get_battle
from battles.streaming.pacing import EqualPace
from battles.streaming.protocol import FIELD, TurnEvent, stream_key
from battles.worker import turn_store
from battles.worker.runner import Engine
from common.valkey.connections import connection
from models_registry.models import LanguageModel
from models_registry.providers import Completion
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.turn_steps import claim_turn, store_answer
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

PROMPT = " ".join(f"word{number}" for number in range(100))
SHOWN = 40
WHOLE = CallResult(texts=[PROMPT], completion=Completion(finish_reason="stop"))


@pytest.fixture(autouse=True)
def _shows_forty_characters(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ARENA_EQUAL_PACE = True
    pace = EqualPace.visible_characters
    monkeypatch.setattr(EqualPace, "visible_characters", lambda *given: min(SHOWN, pace(*given)))


def shown_lengths(battle: Battle) -> list[int]:
    lengths = {"left": 0, "right": 0}
    for _, fields in connection().xrange(stream_key(battle.public_id, 0)):
        for event in msgspec.json.decode(fields[FIELD.decode()], type=list[TurnEvent]):
            if event.name == "text":
                lengths[event.side] += len(event.value)
    return list(lengths.values())


def answers(battle: Battle) -> list[dict[str, Any]]:
    [turn] = battle_payload(get_battle(battle.pk))["turns"]
    by_side = sorted(turn["answers"], key=lambda answer: answer["side"])
    return [{name: value for name, value in answer.items() if name != "side"} for answer in by_side]


def stopped_answers(models: list[LanguageModel], engine: Engine) -> list[dict[str, Any]]:
    battle = make.battle(*models, prompt=PROMPT)
    answering = threading.Thread(target=engine.answer, args=[battle.turns.get().pk])
    answering.start()
    wait_for(lambda: Answer.objects.filter(turn__battle=battle).exclude(state="queued").exists())
    wait_for(lambda: min(shown_lengths(battle)) == SHOWN)
    actions.stop(battle=battle)
    answering.join(60)
    return answers(battle)


@pytest.mark.parametrize("faster", ["honest", "cut-after-30"])
def test_stopped_sides_end_alike_where_they_were_shown(fake_provider: FakeProvider, engine: Engine, faster: str):
    models = [make.model(name, at=fake_provider.base_url) for name in (faster, "slow")]
    left, right = stopped_answers(models, engine)
    assert left == right
    assert (left["state"], left["text"], left["error"]) == ("stopped", PROMPT[:SHOWN], None)
    assert PROMPT[:SHOWN] in left["html"]
    assert stopped_answers(models[::-1], engine) == [left, right]


def test_stop_without_equal_pace_keeps_the_complete_answer(fake_provider: FakeProvider, engine: Engine, settings):
    settings.ARENA_EQUAL_PACE = False
    battle = make.battle(*(make.model(name, at=fake_provider.base_url) for name in ("honest", "slow")), prompt=PROMPT)
    answering = threading.Thread(target=engine.answer, args=[battle.turns.get().pk])
    answering.start()
    wait_for(lambda: Answer.objects.filter(state="done").exists() and min(shown_lengths(battle)) > 0)
    actions.stop(battle=battle)
    answering.join(60)
    left, right = answers(battle)
    assert (left["state"], left["text"], right["state"]) == ("done", PROMPT + " ", "stopped")
    assert 0 < len(right["text"]) < len(PROMPT)


@pytest.mark.parametrize("through_page", [True, False])
def test_stopped_stream_and_reads_tell_sides_alike(fake_provider: FakeProvider, reader: Reader, through_page: bool):
    for name in ("honest", "slow"):
        make.model(name, at=fake_provider.base_url)
    begun = reader.start_battle(PROMPT)
    battle = Battle.objects.get()

    second_tab = Reader(reader.site)
    second_tab.client.cookies.update(reader.client.cookies)

    def stop() -> None:
        wait_for(lambda: min(shown_lengths(battle)) == SHOWN)
        second_tab.post(f"{'' if through_page else '/api/v1'}/battles/{begun['id']}/stop/")

    stopping = threading.Thread(target=stop)
    stopping.start()
    events = [(name, data) for _, name, data in reader.follow(begun["stream_url"])]
    stopping.join(60)
    last = [data for name, data in events if name == "state"][-2:]
    assert last == ['{"side":"left","state":"stopped"}', '{"side":"right","state":"stopped"}']
    left, right = reader.battle(begun["id"])["turns"][0]["answers"]
    assert {**left, "side": ""} == {**right, "side": ""}
    assert (left["state"], left["text"]) == ("stopped", PROMPT[:SHOWN])
    assert reader.get(f"/s/{begun['session']}/").text.count(PROMPT) == 1  # the prompt itself


def half_stored_turn() -> Turn:
    turn = make.battle(make.model(), make.model(), prompt=PROMPT).turns.get()
    claimed = claim_turn(turn.pk)
    left, _ = turn_store.begin_calls(claimed)
    store_answer(claimed, left, WHOLE, closes_turn=False)
    turn_store.release(claimed)
    return turn


def test_stop_of_a_half_stored_queued_turn_ends_sides_alike():
    turn = half_stored_turn()
    actions.stop(battle=turn.battle)
    left, right = answers(turn.battle)
    assert left == right
    assert (left["state"], left["text"]) == ("stopped", "")


def test_lost_half_stored_turn_fails_both_sides():
    turn = half_stored_turn()
    claim_turn(turn.pk)
    Turn.objects.filter(pk=turn.pk).update(lease_until=turn.created_at)
    turn_store.fail_expired(turn.pk)
    left, right = answers(turn.battle)
    assert left == right
    assert (left["state"], left["text"]) == ("failed", "")


def test_stopped_half_stored_turn_is_ended_alike_by_next_worker(fake_provider: FakeProvider, engine: Engine):
    turn = half_stored_turn()
    Turn.objects.filter(pk=turn.pk).update(stop_requested_at=turn.created_at)
    engine.answer(turn.pk)
    left, right = answers(turn.battle)
    assert left == right
    assert (left["state"], left["text"]) == ("stopped", "")


def test_sides_stored_before_a_lost_stop_are_ended_alike(engine: Engine):
    turn = make.battle(make.model(), make.model(), prompt=PROMPT).turns.get()
    claimed = claim_turn(turn.pk)
    left, right = turn_store.begin_calls(claimed)
    store_answer(claimed, left, WHOLE, closes_turn=False)
    store_answer(claimed, right, CallResult(texts=["a word"], stopped=True), closes_turn=False)
    turn_store.release(claimed)
    Turn.objects.filter(pk=turn.pk).update(stop_requested_at=turn.created_at)
    engine.answer(turn.pk)
    assert len({(answer["state"], answer["text"]) for answer in answers(turn.battle)}) == 1
