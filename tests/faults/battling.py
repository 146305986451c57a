import time
from typing import Any

import httpx2
import pytest

from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader
from tests.waiting import wait_for

SHORT = "one two three"
# An answer of about two seconds.
LONG = " ".join(f"word{number}" for number in range(400))
# Answers pause in the middle until the provider's `go_on` is called, so that faults happen during answers.
_WORDS = [f"word{number}" for number in range(300)]
HALTED = " ".join([*_WORDS[:100], PAUSE, *_WORDS[100:]])


def start_halted_battle(reader: Reader, provider: FakeProvider) -> dict[str, Any]:
    """Start a battle whose two models wait in the middle of HALTED."""
    provider.forget()
    waited = provider.paused
    battle = reader.start_battle(HALTED)
    wait_for(lambda: provider.paused == waited + 2)
    return battle


def wait_until_answered(reader: Reader, battle: dict[str, Any], within: float = 120) -> dict[str, Any]:
    """Wait, also through outages of the site, until the battle's turn is stored."""
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


def allowed_time(promised_s: float, reader: Reader) -> float:
    """Return the promised time plus an allowance for a busy machine, measured on the simplest page."""
    began = time.monotonic()
    for _ in range(3):
        reader.get("/livez")
    return promised_s + 30 * (time.monotonic() - began)


def answered_battle(reader: Reader, prompt: str = SHORT) -> dict[str, Any]:
    return wait_until_answered(reader, reader.start_battle(prompt))


def texts(battle: dict[str, Any]) -> list[tuple[str, str]]:
    return [(answer["state"], answer["text"]) for answer in battle["turns"][0]["answers"]]


def complete_texts(prompt: str) -> list[tuple[str, str]]:
    return [("done", prompt + " ")] * 2


def another_tab(reader: Reader) -> Reader:
    """Return a client of the same visitor with its own connections."""
    tab = Reader(reader.site)
    tab.client.cookies = httpx2.Cookies(reader.client.cookies)
    return tab


def vote(reader: Reader, battle: dict[str, Any], choice: str = "left", **headers: str) -> httpx2.Response:
    return reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": choice}, headers=headers)
