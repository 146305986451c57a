"""Both panes start together; with ARENA_EQUAL_PACE they also grow alike."""

import json

import pytest

from battles.models import Answer
from battles.streaming import publisher
from battles.streaming.pacing import MIN_PACE, EqualPace, Progress
from tests import make
from tests.battles.streaming.stream_events import read_until
from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader, panes
from tests.waiting import wait_for

HALF = "one two three four five "
PROMPT = f"{HALF}{PAUSE} six seven eight nine ten"


def lengths_after_each_tick(events: list[tuple[str, str, str]]) -> list[tuple[int, int]]:
    """Return the lengths of the left and right text after each complete tick."""
    shown, ticks = {"left": 0, "right": 0}, []
    for id, name, data in events:
        if name == "text":
            value = json.loads(data)
            shown[value["side"]] += len(value["text"])
        if "." not in id:
            ticks.append((shown["left"], shown["right"]))
    return ticks


@pytest.mark.django_db(transaction=True)
def test_fast_side_waits_for_first_text_of_slow_side(
    fake_provider: FakeProvider, reader: Reader, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publisher, "OTHER_SIDE_TIMEOUT_S", 60.0)
    for name in ("honest", "patient"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).exists())
    fake_provider.go_on()
    first = lengths_after_each_tick(list(reader.follow(battle["stream_url"])))[0]
    assert min(first) > 0


@pytest.mark.django_db(transaction=True)
def test_equal_pace_keeps_panes_equally_long(fake_provider: FakeProvider, reader: Reader, settings):
    settings.ARENA_EQUAL_PACE = True
    for name in ("honest", "slow"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle(PROMPT)
    events = reader.follow(battle["stream_url"])
    seen = read_until(events, lambda events: panes(events) == {"left": HALF, "right": HALF})
    half_way = reader.battle(battle["id"])["turns"][0]["answers"]
    assert {(answer["state"], answer["text"]) for answer in half_way} == {("streaming", "")}
    fake_provider.go_on()
    ticks = lengths_after_each_tick(seen + list(events))
    assert len(set(ticks)) > 1
    assert all(left == right for left, right in ticks)


def test_pace_is_the_slower_side_while_both_grow():
    pace = EqualPace(now=0)
    assert pace.visible_characters([Progress(500, False), Progress(20, False)], now=1) == 20
    assert pace.visible_characters([Progress(600, True), Progress(40, False)], now=2) == 40


def test_longer_answer_continues_at_pace_of_slower_one():
    pace = EqualPace(now=0)
    assert pace.visible_characters([Progress(5000, False), Progress(1000, False)], now=2) == 1000
    finished = [Progress(5000, True), Progress(1000, True)]
    assert [pace.visible_characters(finished, now=now) for now in (2, 3, 4, 60)] == [1000, 1500, 2000, 5000]


def test_longer_answer_continues_at_least_at_min_pace():
    pace = EqualPace(now=0)
    pace.visible_characters([Progress(5000, False), Progress(1, False)], now=10)
    finished = [Progress(5000, True), Progress(1, True)]
    assert pace.visible_characters(finished, now=11) == 1 + MIN_PACE
