import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.faults.battling import another_tab, answered_battle, vote
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import POSTGRES, WEB, Arena

pytestmark = pytest.mark.faults


def test_hundred_concurrent_votes_store_one(arena: Arena, reader: Reader):
    battle = answered_battle(reader)
    tabs = [another_tab(reader) for _ in range(10)]

    def cast(number: int) -> int:
        tab, choice = tabs[number % 10], ("left", "right")[number % 2]
        if number % 3:
            return vote(tab, battle, choice, **{"Idempotency-Key": f"vote-{battle['id']}-{number}"}).status_code
        return tab.post(f"/battles/{battle['id']}/vote/", data={"choice": choice}).status_code

    with ThreadPoolExecutor(20) as people:
        statuses = list(people.map(cast, range(100)))
    by_api = [status for number, status in enumerate(statuses) if number % 3]
    assert set(statuses) <= {201, 302, 409}
    assert by_api.count(201) <= 1
    rows = arena.query(
        "SELECT vote.choice FROM battles_vote AS vote JOIN battles_battle AS battle ON battle.id = vote.battle_id "
        "WHERE battle.public_id = %s",
        battle["id"],
    )
    assert len(rows) == 1
    assert reader.battle(battle["id"])["vote"]["choice"] == rows[0][0]


@pytest.mark.parametrize("program", [POSTGRES, WEB])
def test_acknowledged_vote_survives_kill_and_is_stored_once(arena: Arena, reader: Reader, program: str):
    battle = answered_battle(reader)
    key = {"Idempotency-Key": f"kept-{battle['id']}"}
    acknowledged = vote(reader, battle, "both_bad", **key)
    killed = arena.signal(program)
    assert acknowledged.status_code == 201
    wait_for(lambda: arena.has_restarted(program, killed))
    again = vote(another_tab(reader), battle, "both_bad", **key)
    assert (again.status_code, again.json()) == (201, acknowledged.json())
    other = vote(another_tab(reader), battle, "left")
    assert (other.status_code, other.json()["code"]) == (409, "already_voted")


def test_votes_repeated_after_database_kill_are_stored_once(arena: Arena, reader: Reader):
    battles = [answered_battle(reader) for _ in range(6)]
    tabs = [another_tab(reader) for _ in battles]

    def cast_until_acknowledged(number: int) -> int:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                response = vote(
                    tabs[number], battles[number], "tie", **{"Idempotency-Key": f"kept-{number}-{arena.port}"}
                )
            except httpx2.TransportError:
                continue
            if response.status_code == 201:
                return response.status_code
            assert response.status_code in (409, 503), response.text
            time.sleep(0.3)
        return 0

    with ThreadPoolExecutor(6) as people:
        casting = people.map(cast_until_acknowledged, range(6))
        killed = arena.signal(POSTGRES)
        assert list(casting) == [201] * 6
    wait_for(lambda: arena.has_restarted(POSTGRES, killed))  # all may have voted before the kill
    ids = [battle["id"] for battle in battles]
    [(stored,)] = arena.query(
        "SELECT count(*) FROM battles_vote AS vote JOIN battles_battle AS battle ON battle.id = vote.battle_id "
        "WHERE battle.public_id = ANY(%s)",
        ids,
    )
    assert stored == 6
