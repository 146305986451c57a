"""What a reader can learn from the speed of two answers: that they begin together and, if so set, nothing else."""

import json

import pytest

from battles.models import Answer
from battles.streaming import publisher
from battles.streaming.pacing import LEAST_PACE, EqualPace, Progress
from tests import make
from tests.battles.stream_events import read_until
from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader, panes
from tests.waiting import wait_for

HALF = "one two three four five "
PROMPT = f"{HALF}{PAUSE} six seven eight nine ten"


def lengths_after_each_tick(events: list[tuple[str, str, str]]) -> list[tuple[int, int]]:
    """How many characters the left and the right pane show whenever a tick is complete."""
    shown, ticks = {"left": 0, "right": 0}, []
    for id, name, data in events:
        if name == "text":
            value = json.loads(data)
            shown[value["side"]] += len(value["text"])
        if "." not in id:
            ticks.append((shown["left"], shown["right"]))
    return ticks


@pytest.mark.django_db(transaction=True)
def test_a_quick_model_waits_for_the_first_word_of_a_slow_one(
    fake_provider: FakeProvider, reader: Reader, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publisher, "WAIT_FOR_OTHER_SIDE_S", 60.0)
    for name in ("honest", "patient"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).exists())
    fake_provider.go_on()
    first = lengths_after_each_tick(list(reader.follow(battle["stream_url"])))[0]
    assert min(first) > 0


@pytest.mark.django_db(transaction=True)
def test_at_equal_pace_neither_pane_is_ever_ahead(fake_provider: FakeProvider, reader: Reader, settings):
    settings.ARENA_EQUAL_PACE = True
    for name in ("honest", "slow"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle(PROMPT)
    events = reader.follow(battle["stream_url"])
    seen = read_until(events, lambda heard: panes(heard) == {"left": HALF, "right": HALF})
    half_way = reader.battle(battle["id"])["turns"][0]["answers"]
    assert {(answer["state"], answer["text"]) for answer in half_way} == {("streaming", "")}
    fake_provider.go_on()
    ticks = lengths_after_each_tick(seen + list(events))
    assert len(set(ticks)) > 1
    assert all(left == right for left, right in ticks)


def test_both_are_as_far_as_the_slower_one_while_both_speak():
    pace = EqualPace(now=0)
    assert pace.reach([Progress(500, False), Progress(20, False)], now=1) == 20
    assert pace.reach([Progress(600, True), Progress(40, False)], now=2) == 40


def test_the_rest_of_the_longer_answer_goes_on_at_the_pace_of_the_slower_one():
    pace = EqualPace(now=0)
    assert pace.reach([Progress(5000, False), Progress(1000, False)], now=2) == 1000
    over = [Progress(5000, True), Progress(1000, True)]
    assert [pace.reach(over, now=now) for now in (2, 3, 4, 60)] == [1000, 1500, 2000, 5000]


def test_the_rest_is_never_slower_than_people_read():
    pace = EqualPace(now=0)
    pace.reach([Progress(5000, False), Progress(1, False)], now=10)
    over = [Progress(5000, True), Progress(1, True)]
    assert pace.reach(over, now=11) == 1 + LEAST_PACE
