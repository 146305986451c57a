import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import httpx2
import pytest
from django.db import connection
from django.utils import timezone

from battles import actions
from battles.models import Vote
from battles.notify import notify_vote
from common.valkey import connections as valkey
from leaderboard.boards import live_figures
from leaderboard.counting import schedule
from leaderboard.models import AggregationRun
from leaderboard.notify import CHANNEL, notify_new_snapshot
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard.vote_factory import cast, contestants
from tests.site import Reader, serve
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

TIMEOUT_S = 30


@pytest.fixture
def address() -> Iterator[str]:
    with serve() as address:
        yield address


def published(scope: str = "overall") -> str:
    now = timezone.now()
    run = AggregationRun.objects.create(
        scope=scope, slot=schedule.new_slot(), state="done", method="m", started_at=now, finished_at=now, duration_ms=1
    )
    return run.public_id


class BoardReader:
    """Reader of a board's stream; `received` holds the ids of snapshots, `moved` live figures by model."""

    def __init__(self, address: str, *, shown: str, board: str = "overall", seen: str = "", **headers: str) -> None:
        self.received: queue.Queue[str] = queue.Queue()
        self.moved: queue.Queue[dict[str, list[float]]] = queue.Queue()
        self._reader = Reader(address)
        self._url = f"/leaderboard/stream/?board={board}&shown={shown}&seen={seen}"
        self._headers = headers
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        with suppress(httpx2.TransportError):  # the site stops before the stream ends
            for event_id, name, data in self._reader.follow(self._url, **self._headers):
                if name == "live":
                    self.moved.put(json.loads(data)["models"])
                    continue
                assert (name, event_id) == ("snapshot", data)
                self.received.put(data)

    def next(self) -> str:
        return self.received.get(timeout=TIMEOUT_S)

    def last_move(self, *, third: int) -> dict[str, list[float]]:
        while (moved := self.moved.get(timeout=TIMEOUT_S)).get("third", [0])[0] < third:
            pass  # votes may come between two queries
        return moved


def wait_until_subscribed() -> None:
    wait_for(lambda: dict(valkey.connection().pubsub_numsub(CHANNEL))[CHANNEL])


@pytest.mark.slow
def test_reader_receives_new_snapshots_of_board(address):
    reader = BoardReader(address, shown=published())
    other = BoardReader(address, shown=published("language:fr"), board="language:fr")
    wait_until_subscribed()
    first = published()
    notify_new_snapshot("overall")
    assert reader.next() == first
    second = published()
    notify_new_snapshot("overall")
    assert reader.next() == second
    assert other.received.empty()


@pytest.mark.slow
def test_reader_with_old_snapshot_is_updated_at_once(address):
    old, new = published(), published()
    assert BoardReader(address, shown=old).next() == new
    # A browser that reconnects sends the last event's id.
    reconnected = BoardReader(address, shown=old, **{"Last-Event-ID": new})
    newest = published()
    notify_new_snapshot("overall")
    assert reconnected.next() == newest


def test_lost_subscription_misses_no_snapshot(address):
    reader = BoardReader(address, shown=published())
    wait_until_subscribed()
    missed = published()  # without a notification
    valkey.connection().execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    assert reader.next() == missed


@pytest.mark.slow
def test_readers_hold_no_database_connection(address, settings):
    settings.ARENA_STREAMS = {**settings.ARENA_STREAMS, "person": 20}

    def connections() -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return int(cursor.fetchone()[0])

    shown, before = published(), connections()
    readers = [BoardReader(address, shown=shown) for _ in range(20)]
    wait_until_subscribed()
    new = published()
    notify_new_snapshot("overall")
    assert {reader.next() for reader in readers} == {new}
    wait_for(lambda: connections() <= before + 2)


@pytest.mark.slow
def test_votes_move_open_boards_with_few_queries(address, monkeypatch):
    loads = []
    load = live_figures.cached_figures._load
    monkeypatch.setattr(live_figures.cached_figures, "_load", lambda: loads.append(time.monotonic()) or load())
    first, second, third = contestants("first", "second", "third")
    cast(first, second, "left")
    readers = [BoardReader(address, shown="") for _ in range(4)]
    informed = BoardReader(address, shown="", seen="1")
    french = BoardReader(address, shown="", board="language:fr")
    first_vote = {"first": [1, 1516], "second": [1, 1484]}
    assert [reader.moved.get(timeout=TIMEOUT_S) for reader in readers] == [first_vote] * 4
    for _ in range(20):
        cast(third, second, "left", language="fr")
        notify_vote()
    elo = {model.slug: model.elo.rating for model in LanguageModel.objects.select_related("elo")}
    for reader in (*readers, informed):
        assert reader.last_move(third=20) == {"second": [21, elo["second"]], "third": [20, elo["third"]]}
    assert french.last_move(third=20) == {"second": [20, elo["second"]], "third": [20, elo["third"]]}
    assert min(after - before for before, after in pairwise(loads)) >= live_figures.LIVE_INTERVAL_S - 0.1
    assert len(loads) <= 5


@pytest.mark.slow
def test_cast_vote_is_announced(address):
    reader = BoardReader(address, shown="", seen="0")
    wait_until_subscribed()
    actor = make.member()
    battle = make.answered_battle(*contestants("first", "second"), actor=actor)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert reader.moved.get(timeout=TIMEOUT_S) == {"first": [1, 1516], "second": [1, 1484]}


def test_notification_without_valkey_is_logged(monkeypatch, caplog):
    monkeypatch.setattr(valkey, "_away_until", float("inf"))
    with caplog.at_level("WARNING", logger="leaderboard.notify"):
        notify_new_snapshot("overall")
    assert "was not announced" in caplog.text
