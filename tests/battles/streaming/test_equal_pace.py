"""ARENA_EQUAL_PACE hides the faster model; simulated battles."""

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
STORING_S = 0.02  # from the last piece until the side is stored
MAX_DURATION_S = 3600.0
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
    """Loop whose time the simulation sets."""

    now = 0.0

    def time(self) -> float:
        return self.now


class UnusedPublisher:
    """Stub: the simulation calls take_events() itself on every tick."""

    def schedule(self, channel: TurnChannel) -> None:
        pass

    def publish_soon(self, channel: TurnChannel) -> None:
        pass

    def seconds_to_next_read(self) -> float:
        return TICK_S


async def _events(writers: dict[str, Writer]) -> list[tuple[float, TurnEvent]]:
    loop = cast(SimulatedLoop, asyncio.get_running_loop())
    channel = TurnChannel(cast(Publisher, UnusedPublisher()), "turn", writers, equal_pace=True)
    written, finished, events = dict.fromkeys(writers, 0), set[str](), list[tuple[float, TurnEvent]]()
    while not channel.is_published():
        loop.now += TICK_S
        assert loop.now < MAX_DURATION_S
        for side, writer in writers.items():
            if new := writer.written(loop.now) - written[side]:
                channel.add(side, "x" * new)
                written[side] += new
            if side not in finished and loop.now >= writer.ends_at:
                channel.finish_side(side, "done")
                finished.add(side)
        events += [(loop.now, event) for event in channel.take_events()]
    return events


def events_of(left: Writer, right: Writer) -> list[tuple[float, TurnEvent]]:
    """Return a battle's events with their time in seconds."""
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(_events({"left": left, "right": right}))


def random_battle(random: Random) -> tuple[Writer, Writer]:
    left, right = (Writer(random.randint(50, 3000), random.uniform(60, 900), random.uniform(0.2, 4)) for _ in SIDES)
    return left, right


def faster(left: Writer, right: Writer) -> str:
    return "left" if left.ends_at < right.ends_at else "right"


@pytest.mark.slow
def test_first_done_state_does_not_reveal_faster_model():
    random, revealed = Random(20261122), 0
    for _ in range(BATTLES):
        left, right = random_battle(random)
        done = [event.side for _, event in events_of(left, right) if (event.name, event.value) == ("state", "done")]
        assert sorted(done) == ["left", "right"]
        revealed += done[0] == faster(left, right)
    assert revealed <= 0.55 * BATTLES


def test_states_of_both_sides_share_a_tick():
    random = Random(1)
    for _ in range(20):
        states = [
            (at, event.value, event.side) for at, event in events_of(*random_battle(random)) if event.name == "state"
        ]
        begun, ended = states[0][0], states[-1][0]
        assert states == [(at, value, side) for at, value in ((begun, "streaming"), (ended, "done")) for side in SIDES]


@pytest.mark.parametrize("speed", [60, 150, 400])
def test_duration_is_equal_whichever_model_is_faster(speed: int):
    short, long = Writer(400, speed), Writer(2000, speed)
    times = [
        events_of(first, second)[-1][0]
        for first, second in ((short, replace(long, speed=speed * 4)), (replace(short, speed=speed * 4), long))
    ]
    assert times[0] == pytest.approx(times[1], rel=0.05)


@pytest.mark.django_db(transaction=True)
def test_battle_is_answering_until_both_sides_are_published(
    fake_provider: FakeProvider, reader: Reader, settings, monkeypatch: pytest.MonkeyPatch
):
    settings.ARENA_EQUAL_PACE = True
    visible: dict[str, Any] = {"characters": 0}
    monkeypatch.setattr(EqualPace, "visible_characters", lambda self, sides, now: visible["characters"])
    for name in ("honest", "steady"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).count() == 2)
    shown = reader.battle(battle["id"])
    answers = {(answer["state"], answer["text"]) for answer in shown["turns"][0]["answers"]}
    assert (shown["state"], answers) == ("answering", {("streaming", "")})
    assert shown["can_vote"] is False
    visible["characters"] = 1000
    assert reader.wait_until_answered(shown)["state"] == "awaiting_vote"


@pytest.mark.django_db(transaction=True)
def test_stop_publishes_held_back_text(
    fake_provider: FakeProvider, reader: Reader, settings, monkeypatch: pytest.MonkeyPatch
):
    settings.ARENA_EQUAL_PACE = True
    monkeypatch.setattr(EqualPace, "visible_characters", lambda self, sides, now: 0)
    for name in ("honest", "steady"):
        make.model(name, at=fake_provider.base_url)
    battle = reader.start_battle()
    wait_for(lambda: Answer.objects.filter(state=Answer.State.DONE).count() == 2)
    reader.api("POST", f"battles/{battle['id']}/stop/")
    assert reader.wait_until_answered(battle)["state"] == "awaiting_vote"
    assert Battle.objects.get().voided_at is None
