import threading

import pytest
from django.db import connection

from battles import actions
from battles.errors import AlreadyRegenerated, AlreadyVoted, BattleIsVoid, NothingToRegenerate, NothingToStop
from battles.models import Answer, Battle, Call, Position, Turn, Vote
from battles.worker.runner import Engine
from common.errors import ArenaError
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def answers(turn: Turn) -> dict[str, tuple[str, str]]:
    return {answer.side.position: (answer.state, answer.text) for answer in turn.answers.select_related("side")}


@pytest.fixture
def actor():
    return make.visitor()


@pytest.fixture
def battle(fake_provider: FakeProvider, engine: Engine, actor) -> Battle:
    """Battle with an answered first turn, whose right model fails from now on."""
    left, right = (make.model("honest", at=fake_provider.base_url) for _ in Position.values)
    battle = make.battle(left, right, actor=actor)
    engine.answer(battle.turns.get().pk)
    set_behaviour(right, "status-400")
    fake_provider.forget()
    return battle


def set_behaviour(model: LanguageModel, upstream_name: str) -> None:
    LanguageModel.objects.filter(pk=model.pk).update(upstream_name=upstream_name)


def right_of(battle: Battle) -> LanguageModel:
    return battle.sides.get(position=Position.RIGHT).model


def failed_follow_up(battle: Battle, engine: Engine, prompt: str = "and four?") -> Turn:
    turn = make.turn(battle, prompt=prompt)
    engine.answer(turn.pk)
    assert answers(turn) == {"left": ("done", prompt + " "), "right": ("failed", "")}
    return turn


def test_regenerating_calls_failed_side_only(battle: Battle, engine: Engine, fake_provider: FakeProvider, actor):
    turn = failed_follow_up(battle, engine)
    set_behaviour(right_of(battle), "honest-again")
    fake_provider.forget()
    actions.regenerate(actor=actor, battle=battle)
    engine.answer(turn.pk)
    assert answers(turn) == {"left": ("done", "and four? "), "right": ("done", "and four? ")}
    assert fake_provider.calls == {"honest-again": 1}
    states = Call.objects.filter(answer__turn=turn, answer__side__position="right").order_by("pk")
    assert list(states.values_list("state", flat=True)) == ["failed", "done"]
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert vote.turn_count == 2


def test_vote_after_second_failure_covers_earlier_turns(battle: Battle, engine: Engine, actor):
    turn = failed_follow_up(battle, engine)
    actions.regenerate(actor=actor, battle=battle)
    engine.answer(turn.pk)
    assert answers(turn)["right"] == ("failed", "")
    with pytest.raises(AlreadyRegenerated):
        actions.regenerate(actor=actor, battle=battle)
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.turn_count, vote.counts) == (1, True)


def test_failed_follow_up_is_left_out_of_later_requests(
    battle: Battle, engine: Engine, fake_provider: FakeProvider, actor
):
    failed_follow_up(battle, engine, prompt="never mind")
    set_behaviour(right_of(battle), "honest-again")
    turn = actions.follow_up(actor=actor, battle=battle, prompt="and five?")
    fake_provider.forget()
    engine.answer(turn.pk)
    sent = [[message["content"] for message in request["messages"]] for request in fake_provider.requests]
    assert sent == [["one two three", "one two three ", "and five?"]] * 2
    assert {tuple(call.request["turns"]) for call in Call.objects.filter(answer__turn=turn)} == {(0, 2)}


def test_failed_first_turn_cannot_be_regenerated(fake_provider: FakeProvider, engine: Engine, actor):
    left, right = make.model("honest", at=fake_provider.base_url), make.model("cut-after-1", at=fake_provider.base_url)
    void = make.battle(left, right, actor=actor)
    engine.answer(void.turns.get().pk)
    with pytest.raises(BattleIsVoid):
        actions.regenerate(actor=actor, battle=void)


@pytest.mark.parametrize("states", [("done", "done"), ("stopped", "stopped"), ("stopped", "failed")])
def test_done_or_stopped_follow_up_cannot_be_regenerated(states: tuple[str, str], actor):
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    turn = make.turn(battle)
    for answer, state in zip(turn.answers.all(), states, strict=True):
        Answer.objects.filter(pk=answer.pk).update(state=state, text="something")
    stopped_at = turn.created_at if "stopped" in states else None
    Turn.objects.filter(pk=turn.pk).update(state=Turn.State.DONE, stop_requested_at=stopped_at)
    with pytest.raises(NothingToRegenerate):
        actions.regenerate(actor=actor, battle=battle)


def test_voted_battle_cannot_be_regenerated(battle: Battle, engine: Engine, actor):
    failed_follow_up(battle, engine)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE)
    with pytest.raises(AlreadyVoted):
        actions.regenerate(actor=actor, battle=battle)


def test_concurrent_regenerations_call_model_once(battle: Battle, engine: Engine, fake_provider: FakeProvider, actor):
    turn = failed_follow_up(battle, engine)
    set_behaviour(right_of(battle), "honest-again")
    fake_provider.forget()
    outcomes: list[str] = []

    def regenerate() -> None:
        try:
            actions.regenerate(actor=actor, battle=battle)
            outcomes.append("ok")
        except ArenaError as refusal:
            outcomes.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=regenerate) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(set(outcomes)) == ["ok", "still_answering"]
    assert outcomes.count("ok") == 1
    engine.answer(turn.pk)
    assert fake_provider.calls == {"honest-again": 1}


def test_page_offers_regeneration_once(fake_provider: FakeProvider, reader: Reader):
    for _ in Position.values:
        make.model("honest", at=fake_provider.base_url)
    battle = reader.wait_until_answered(reader.start_battle())
    LanguageModel.objects.update(upstream_name="status-400")
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": f"and {PAUSE} four?"})
    failed = reader.wait_until_answered(reader.battle(battle["id"]))
    assert (failed["state"], failed["can_vote"], failed["can_regenerate"]) == ("awaiting_vote", True, True)
    page = f"/s/{failed['session']}/"
    assert "Retry" in reader.get(page).text
    LanguageModel.objects.update(upstream_name="honest")

    response = reader.post(f"/battles/{battle['id']}/regenerate/", headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert 'sse-connect="' in response.text
    fake_provider.go_on()
    whole = reader.wait_until_answered(reader.battle(battle["id"]))
    assert [answer["text"] for answer in whole["turns"][1]["answers"]] == [f"and {PAUSE} four? "] * 2
    assert whole["can_regenerate"] is False
    assert "Retry" not in reader.get(page).text
    refused = reader.api("POST", f"battles/{battle['id']}/regenerate/")
    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_to_regenerate")


def test_stream_of_second_round_has_failed_side_only(fake_provider: FakeProvider, reader: Reader):
    for _ in Position.values:
        make.model("honest", at=fake_provider.base_url)
    battle = reader.wait_until_answered(reader.start_battle())
    LanguageModel.objects.filter(pk=Battle.objects.get().sides.get(position="right").model_id).update(
        upstream_name="cut-after-1"
    )
    fake_provider.go_on()
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": f"and {PAUSE} four?"})
    reader.wait_until_answered(reader.battle(battle["id"]))
    fake_provider.forget()
    LanguageModel.objects.update(upstream_name="honest")
    begun = reader.api("POST", f"battles/{battle['id']}/regenerate/").json()
    assert [answer["text"] for answer in begun["turns"][1]["answers"]] == [f"and {PAUSE} four? ", ""]
    fake_provider.go_on()
    events = list(reader.follow(begun["stream_url"]))
    assert {'"left"' in data for _, _, data in events} == {False}
    assert [name for _, name, _ in events if name in ("reset", "end")] == ["reset", "end"]


def test_stop_before_any_text_voids_battle(fake_provider: FakeProvider, engine: Engine, actor):
    battle = make.battle(*(make.model("hang-after-0", at=fake_provider.base_url) for _ in Position.values), actor=actor)
    turn = battle.turns.get()
    answering = threading.Thread(target=engine.answer, args=[turn.pk])
    answering.start()
    wait_for(lambda: fake_provider.calls["hang-after-0"] == 2)
    actions.stop(battle=battle)
    answering.join(30)
    assert answers(turn) == {"left": ("stopped", ""), "right": ("stopped", "")}
    battle.refresh_from_db()
    assert battle.is_void


def test_stop_of_queued_turn_ends_it_without_calls(fake_provider: FakeProvider, engine: Engine, actor):
    battle = make.battle(*(make.model("honest", at=fake_provider.base_url) for _ in Position.values), actor=actor)
    turn = battle.turns.get()
    actions.stop(battle=battle)
    turn.refresh_from_db()
    battle.refresh_from_db()
    assert (turn.state, battle.is_void) == ("done", True)
    engine.answer(turn.pk)
    assert fake_provider.calls == {}
    with pytest.raises(NothingToStop):
        actions.stop(battle=battle)


def test_stopped_empty_follow_up_keeps_battle_votable(battle: Battle, actor):
    turn = make.turn(battle)
    actions.stop(battle=battle)
    assert answers(turn) == {"left": ("stopped", ""), "right": ("stopped", "")}
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.RIGHT)
    assert (vote.turn_count, vote.counts) == (1, True)


def test_void_battle_explains_itself_and_refuses_changes(fake_provider: FakeProvider, reader: Reader):
    for _ in Position.values:
        make.model("cut-after-1", at=fake_provider.base_url)
    battle = reader.wait_until_answered(reader.start_battle())
    assert (battle["state"], battle["can_vote"], battle["can_follow_up"]) == ("void", False, False)
    page = reader.get(f"/s/{battle['session']}/").text
    assert "so it does not count" in page
    for path, body in (("vote/", {"choice": "left"}), ("messages/", {"prompt": "go on"}), ("regenerate/", None)):
        refused = reader.api("POST", f"battles/{battle['id']}/{path}", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "battle_void")
