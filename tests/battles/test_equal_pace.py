"""With ARENA_EQUAL_PACE the events of a battle do not tell which model was faster: simulated battles."""

import asyncio
from dataclasses import dataclass, replace
from random import Random
from typing import Any, cast

import pytest

from battles.models import Answer, Battle
from battles.streaming.pacing import EqualPace
from battles.streaming.protocol import TurnEvent
from battles.streaming.publisher import TICK_S, Publisher, TurnChannel
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

BATTLES = 200
STORING_S = 0.02  # from a model's last piece until its side is stored
LONGEST_S = 3600.0
SIDES = ("left", "right")


@dataclass(frozen=True)
class Writer:
    """A simulated model: `length` characters, one every 1 / `speed` seconds after `first_s`."""

    length: int
    speed: float
    first_s: float = 0.3

    @property
    def ends_at(self) -> float:
        return self.first_s + self.length / self.speed + STORING_S

    def written(self, now: float) -> int:
        return min(self.length, max(0, int((now - self.first_s) * self.speed)))


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Its time is what the simulation says."""

    now = 0.0

    def time(self) -> float:
        return self.now


class UnusedPublisher:
    """The simulation asks the channel itself, on every tick."""

    tick_s = TICK_S

    def has_news(self, channel: TurnChannel) -> None:
        pass


async def _events(writers: dict[str, Writer]) -> list[tuple[float, TurnEvent]]:
    loop = cast(SimulatedLoop, asyncio.get_running_loop())
    channel = TurnChannel(cast(Publisher, UnusedPublisher()), "turn", writers, equal_pace=True)
    written, over, events = dict.fromkeys(writers, 0), set[str](), list[tuple[float, TurnEvent]]()
    while not channel.is_shown():
        loop.now += TICK_S
        assert loop.now < LONGEST_S
        for side, writer in writers.items():
            if new := writer.written(loop.now) - written[side]:
                channel.add(side, "x" * new)
                written[side] += new
            if side not in over and loop.now >= writer.ends_at:
                channel.side_is_over(side, "done")
                over.add(side)
        events += [(loop.now, event) for event in channel.take_events()]
    return events


def events_of(left: Writer, right: Writer) -> list[tuple[float, TurnEvent]]:
    """Every event of a battle with its time, in seconds since the models were asked."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(_events({"left": left, "right": right}))


def random_battle(random: Random) -> tuple[Writer, Writer]:
    left, right = (Writer(random.randint(50, 3000), random.uniform(60, 900), random.uniform(0.2, 4)) for _ in SIDES)
    return left, right


def faster(left: Writer, right: Writer) -> str:
    return "left" if left.ends_at < right.ends_at else "right"


def test_first_done_names_faster_model_by_chance_alone():
    random, named = Random(20261122), 0
    for _ in range(BATTLES):
        left, right = random_battle(random)
        done = [event.side for _, event in events_of(left, right) if (event.name, event.value) == ("state", "done")]
        assert sorted(done) == ["left", "right"]
        named += done[0] == faster(left, right)
    assert named <= 0.55 * BATTLES


def test_states_of_both_sides_come_in_the_same_ticks():
    random = Random(1)
    for _ in range(20):
        states = [
            (at, event.value, event.side) for at, event in events_of(*random_battle(random)) if event.name == "state"
        ]
        begun, ended = states[0][0], states[-1][0]
        assert states == [(at, value, side) for at, value in ((begun, "streaming"), (ended, "done")) for side in SIDES]


@pytest.mark.parametrize("speed", [60, 150, 400])
def test_battle_is_shown_alike_whichever_model_is_faster(speed: int):
    short, long = Writer(400, speed), Writer(2000, speed)
    times = [
        events_of(first, second)[-1][0]
        for first, second in ((short, replace(long, speed=speed * 4)), (replace(short, speed=speed * 4), long))
    ]
    assert times[0] == pytest.approx(times[1], rel=0.05)


@pytest.mark.django_db(transaction=True)
def test_battle_is_answering_until_both_sides_are_shown(
    fake_provider: FakeProvider, reader: Reader, settings, monkeypatch: pytest.MonkeyPatch
):
    settings.ARENA_EQUAL_PACE = True
    reach: dict[str, Any] = {"of both": 0}
    monkeypatch.setattr(EqualPace, "reach", lambda self, sides, now: reach["of both"])
    for name in ("honest", "steady"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).count() == 2)
    shown = reader.battle(battle["id"])
    answers = {(answer["state"], answer["text"]) for answer in shown["turns"][0]["answers"]}
    assert (shown["state"], answers) == ("answering", {("streaming", "")})
    assert shown["can_vote"] is False
    reach["of both"] = 1000
    assert reader.wait_until_answered(shown)["state"] == "awaiting_vote"


@pytest.mark.django_db(transaction=True)
def test_stop_shows_what_the_equal_pace_holds_back(
    fake_provider: FakeProvider, reader: Reader, settings, monkeypatch: pytest.MonkeyPatch
):
    settings.ARENA_EQUAL_PACE = True
    monkeypatch.setattr(EqualPace, "reach", lambda self, sides, now: 0)
    for name in ("honest", "steady"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).count() == 2)
    reader.api("POST", f"battles/{battle['id']}/stop/")
    assert reader.wait_until_answered(battle)["state"] == "awaiting_vote"
    assert Battle.objects.get().voided_at is None
