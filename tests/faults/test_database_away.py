"""PostgreSQL is away: typed prompts are kept, and the site recovers as soon as the database does."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from tests.faults.battling import allowed_time, another_tab, answered_battle
from tests.site import Reader
from tests.waiting import wait_for
from tests.worlds.arena import POSTGRES, Arena

pytestmark = pytest.mark.faults

TYPED = "A prompt that took me long to write: <b>why</b>?"


def database_answers(arena: Arena) -> bool:
    with suppress(psycopg.OperationalError):
        return arena.query("SELECT 1") == [(1,)]
    return False


def test_site_serves_within_five_seconds_of_database(arena: Arena, reader: Reader):
    battle = answered_battle(reader)
    page = f"/s/{battle['session']}/"
    with arena.gone(POSTGRES):
        time.sleep(8)  # long enough for connection pools to give up
        assert reader.get(page).status_code == 503
    wait_for(lambda: database_answers(arena))
    back = time.monotonic()
    wait_for(lambda: reader.get(page).status_code == 200)
    assert reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"}).status_code == 201
    took = time.monotonic() - back
    assert took <= allowed_time(5, reader)
    wait_for(arena.is_ready)
    tabs = [another_tab(reader) for _ in range(12)]
    with ThreadPoolExecutor(12) as people:  # some requests are the first of their web process since the outage
        assert {response.status_code for response in people.map(lambda tab: tab.get(page), tabs)} == {200}


def test_database_restart_between_visits_is_not_noticed(arena: Arena, reader: Reader):
    page = f"/s/{answered_battle(reader)['session']}/"
    tabs = [another_tab(reader) for _ in range(12)]
    with ThreadPoolExecutor(12) as people:  # every web process opens many connections
        for _ in range(5):
            assert {response.status_code for response in people.map(lambda tab: tab.get(page), tabs)} == {200}
    killed = arena.signal(POSTGRES)
    wait_for(lambda: arena.pid_of(POSTGRES) not in (None, killed) and database_answers(arena))
    assert {another_tab(reader).get(page).status_code for _ in range(12)} == {200}


def test_prompt_is_kept_in_refusals_without_database(arena: Arena, reader: Reader):
    battle = answered_battle(reader)
    follow_up = f"/battles/{battle['id']}/messages/"
    with arena.gone(POSTGRES):
        for path in ("/", follow_up):
            refused = reader.post(path, data={"prompt": TYPED})
            assert refused.status_code == 503
            assert "A prompt that took me long to write: &lt;b&gt;why&lt;/b&gt;?</textarea>" in refused.text
            assert f'action="{path}"' in refused.text
            assert int(refused.headers["Retry-After"]) >= 1
        notice = reader.post("/", data={"prompt": TYPED}, headers={"HX-Request": "true"})
        assert (notice.status_code, notice.headers["HX-Retarget"]) == (503, "#notices")
        assert "Please try again" in notice.text
        refused = reader.api("POST", "sessions/", {"prompt": TYPED})
        assert (refused.status_code, refused.json()["code"]) == (503, "service_unavailable")
