"""What people do in an arena that is being broken."""

import time
from typing import Any

import httpx2
import pytest

from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

SHORT = "one two three"
# About five seconds of answer.
LONG = " ".join(f"word{number}" for number in range(800))
# No answer ends before the provider is told to go on: what breaks until then breaks in the middle of answers.
_WORDS = [f"word{number}" for number in range(300)]
HALTED = " ".join([*_WORDS[:100], PAUSE, *_WORDS[100:]])


def begun(reader: Reader, provider: FakeProvider) -> dict[str, Any]:
    """Start a battle whose two models wait in the middle of HALTED."""
    provider.forget()
    waited = provider.paused
    battle = reader.start_battle(HALTED)
    wait_for(lambda: provider.paused == waited + 2)
    return battle


def finished(reader: Reader, battle: dict[str, Any], within: float = 120) -> dict[str, Any]:
    """The battle once its turn is stored, however often the site is away meanwhile."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            response = reader.api("GET", f"battles/{battle['id']}/")
        except httpx2.TransportError:
            time.sleep(0.2)
            continue
        if response.status_code == 200 and response.json()["stream_url"] is None:
            return response.json()
        time.sleep(0.2)
    pytest.fail(f"the battle was not finished within {within} s")


def allowed(promised_s: float, reader: Reader) -> float:
    """Return what a promised time may be on a machine that has more to do, by how slow its simplest page is now."""
    began = time.monotonic()
    for _ in range(3):
        reader.get("/livez")
    return promised_s + 30 * (time.monotonic() - began)


def answered(reader: Reader, prompt: str = SHORT) -> dict[str, Any]:
    return finished(reader, reader.start_battle(prompt))


def texts(battle: dict[str, Any]) -> list[tuple[str, str]]:
    return [(answer["state"], answer["text"]) for answer in battle["turns"][0]["answers"]]


def whole(prompt: str) -> list[tuple[str, str]]:
    """What `texts` says when nothing was lost, doubled or mixed."""
    return [("done", prompt + " ")] * 2


def another_tab(reader: Reader) -> Reader:
    """The same person's, with connections of its own."""
    tab = Reader(reader.site)
    tab.client.cookies = httpx2.Cookies(reader.client.cookies)
    return tab


def vote(reader: Reader, battle: dict[str, Any], choice: str = "left", **headers: str) -> httpx2.Response:
    return reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": choice}, headers=headers)
