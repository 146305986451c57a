"""Threads that battle and vote through all outages, and the shared record of their requests."""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx2
from django.conf import settings

from tests.site import Reader

CHOICES = ("left", "right", "tie", "both_bad")
MAX_WORDS = 400


@dataclass
class Tally:
    """Record shared by all people; counting happens under its lock."""

    prompts: dict[str, str] = field(default_factory=dict)  # battle id: prompt
    acknowledged: dict[str, str] = field(default_factory=dict)  # battle id: choice
    events: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    longest_wait_s: float = 0.0
    # The longest wait, counted from the last kill during it.
    longest_recovery_s: float = 0.0
    last_kill: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, event: str) -> None:
        with self.lock:
            self.events[event] += 1

    def complain(self, sentence: str) -> None:
        with self.lock:
            self.complaints.append(sentence)

    def waited(self, since: float) -> None:
        now = time.monotonic()
        with self.lock:
            self.longest_wait_s = max(self.longest_wait_s, now - since)
            self.longest_recovery_s = max(self.longest_recovery_s, now - max(since, self.last_kill))


class Person(threading.Thread):
    """Battles and votes until `is_over`; repeats requests without a response under the same idempotency key."""

    def __init__(self, number: int, site: str, seed: int, tally: Tally, is_over: threading.Event) -> None:
        super().__init__(name=f"person {number}", daemon=True)
        self._random = random.Random(f"{seed}/{number}")
        self._reader = Reader(site)
        self._tally, self._is_over = tally, is_over
        self._name = f"{seed}-{number}"

    @property
    def is_known(self) -> bool:
        """Return whether the site has set this person's cookie; before, a repeat comes from another visitor."""
        return settings.ARENA_VISITOR_COOKIE in self._reader.client.cookies

    def run(self) -> None:
        try:
            for round_number in range(100_000):
                if self._is_over.is_set():
                    return
                self._battle(f"{self._name}-{round_number}")
        except Exception as error:
            self._tally.complain(f"{self.name} failed: {error!r}")

    def _battle(self, name: str) -> None:
        words = self._random.choice((3, 20, MAX_WORDS))
        prompt = " ".join(f"{name}:{number}" for number in range(words))
        started = self._post("sessions/", {"prompt": prompt}, key=f"start-{name}")
        if started.status_code != 201:
            self._tally.complain(f"a battle was refused: {started.text}")
            return
        battle = started.json()["battles"][0]
        self._tally.prompts[battle["id"]] = prompt
        began = time.monotonic()
        battle = self._wait_until_answered(battle)
        self._tally.waited(began)
        if not battle["can_vote"]:
            self._tally.note(f"battle {battle['state']}")
            return
        choice = self._random.choice(CHOICES)
        voted = self._post(f"battles/{battle['id']}/vote/", {"choice": choice}, key=f"vote-{name}")
        if voted.status_code == 201:
            self._tally.acknowledged[battle["id"]] = choice
        else:
            self._tally.note(f"vote refused: {voted.json()['code']}")

    def _post(self, path: str, body: dict[str, Any], *, key: str) -> httpx2.Response:
        """Repeat the request until its response is final: not a lost connection, a 5xx or "still_running"."""
        began = time.monotonic()
        while True:
            try:
                response = self._reader.api("POST", path, body, headers={"Idempotency-Key": key})
            except (httpx2.TransportError, KeyError):  # KeyError: the connection was lost before the first cookie
                self._tally.note("connection lost, repeated")
            else:
                is_running = response.status_code == 409 and response.json()["code"] == "still_running"
                if response.status_code < 500 and not is_running:
                    self._tally.waited(began)
                    return response
                self._tally.note(f"{response.status_code} repeated")
            time.sleep(0.2)

    def _wait_until_answered(self, battle: dict[str, Any]) -> dict[str, Any]:
        if battle["stream_url"] and self._random.random() < 0.5:
            self._read_stream(battle["stream_url"])
        while True:
            try:
                response = self._reader.api("GET", f"battles/{battle['id']}/")
            except httpx2.TransportError:
                self._tally.note("connection lost, repeated")
                time.sleep(0.2)
                continue
            if response.status_code == 200 and response.json()["stream_url"] is None:
                return response.json()
            if response.status_code not in (200, 500, 503):
                self._tally.complain(f"a battle was not shown: {response.status_code}")
            time.sleep(0.2)

    def _read_stream(self, stream_url: str) -> None:
        """Read the stream to its end; without one, `wait_for_rest` reports this person."""
        try:
            events = [name for _, name, _ in self._reader.follow(stream_url)]
            self._tally.note("streams read to their end" if "end" in events else "streams without an end event")
        except httpx2.TransportError:
            self._tally.note("streams cut")
