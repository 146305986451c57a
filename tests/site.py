"""A running site in threads of the test process: uvicorn, a Celery worker, and a client."""

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import httpx2
import uvicorn
from celery.bootsteps import RUN
from celery.contrib.testing.worker import start_worker
from celery.worker import state

from arena_site.asgi import application as site_application
from arena_site.celery import app as celery_app
from common.valkey.connections import connection as valkey
from tests.waiting import wait_for


class Server(uvicorn.Server):
    """uvicorn server that stops at once: it aborts open connections and waits for running requests only.

    By default it would wait for a second, and requests would end later in their threads.
    """

    async def main_loop(self) -> None:
        tick = 0
        while not await self.on_tick(tick):
            tick += 1
            await asyncio.sleep(0.01)  # uvicorn looks for `should_exit` ten times a second

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for connection in list(self.server_state.connections):
            connection.shutdown()
            connection.transport.abort()
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110 (uvicorn tells of no end)
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


@contextlib.contextmanager
def serve(application: Any = site_application) -> Iterator[str]:
    """Serve the site and yield its URL."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = Server(uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=60, lifespan="off"))
    thread = threading.Thread(target=server.run, args=[[listening]], daemon=True)
    thread.start()
    wait_for(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(90)
        assert not thread.is_alive(), "a request does not end"


@contextlib.contextmanager
def answer_worker() -> Iterator[Executor]:
    """Run a Celery worker on the broker's queues; yield the threads of its tasks, which may outlive it."""
    with start_worker(
        celery_app, pool="threads", concurrency=8, queues=["answers", "benchmarks", "default"],
        perform_ping_check=False, shutdown_timeout=60,
    ) as worker:  # fmt: skip
        try:
            yield worker.pool.executor
        finally:
            state.should_terminate = 0
            worker.hub.call_soon(lambda: None)  # wakes its loop, which otherwise checks the state once a second
            wait_for(lambda: worker.blueprint.state != RUN)
            _end_blocking_reads()


def _end_blocking_reads() -> None:
    """Unblock the worker, which would otherwise wait a second for an answer from its queues before it ends."""
    for client in valkey().client_list():
        if "b" in client["flags"]:
            valkey().client_unblock(client["id"])


@dataclass
class Reader:
    """HTTP client of a visitor, or of a program with a token; keeps cookies and all received bytes."""

    site: str
    token: str = ""
    received: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        self.client = httpx2.Client(
            base_url=self.site, headers=headers, timeout=60, event_hooks={"response": [self._keep_head]}
        )

    def _keep_head(self, response: httpx2.Response) -> None:
        self.received.append(b"\n".join(name + b": " + value for name, value in response.headers.raw))
        self.received.append(str(response.url).encode())

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        if not self.token and method not in ("GET", "HEAD"):
            if "csrftoken" not in self.client.cookies:
                self.client.get("/api/v1/models/")
            options["headers"] = {"X-CSRFToken": self.client.cookies["csrftoken"], **options.get("headers", {})}
        response = self.client.request(method, path, **options)
        self.received.append(response.content)
        return response

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return self.request("POST", path, **options)

    def api(self, method: str, path: str, json: Any = None, **options: Any) -> httpx2.Response:
        return self.request(method, f"/api/v1/{path}", json=json, **options)

    def start_battle(self, prompt: str = "one two three") -> dict[str, Any]:
        response = self.api("POST", "sessions/", {"prompt": prompt})
        assert response.status_code == 201, response.text
        return response.json()["battles"][0]

    def battle(self, battle_id: str) -> dict[str, Any]:
        return self.api("GET", f"battles/{battle_id}/").json()

    def follow(self, stream_url: str, **headers: str) -> Iterator[tuple[str, str, str]]:
        """Yield (id, event, data) until the stream ends."""
        with self.client.stream("GET", stream_url, headers=headers) as response:
            assert response.status_code == 200
            event: dict[str, str] = {}
            for line in response.iter_lines():
                self.received.append(line.encode())
                if not line:
                    if "event" in event:
                        yield event.get("id", ""), event["event"], event.get("data", "")
                    event = {}
                    continue
                name, _, value = line.partition(": ")
                event[name] = event[name] + "\n" + value if name in event else value

    def wait_until_answered(self, battle: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + 60
        while True:
            if battle["stream_url"]:
                for _ in self.follow(battle["stream_url"]):  # it also ends when no worker starts the turn for long
                    pass
            battle = self.battle(battle["id"])
            if battle["stream_url"] is None:
                return battle
            assert time.monotonic() < deadline, "it is not answered"


def panes(events: list[tuple[str, str, str]]) -> dict[str, str]:
    """Return the text of each side from the API's events, blocks as their HTML."""
    shown: dict[str, tuple[str, str]] = {}
    for _, name, data in events:
        value = json.loads(data)
        done, still_open = shown.get(value.get("side", ""), ("", ""))
        match name:
            case "text":
                still_open += value["text"]
            case "block":
                done, still_open = done + value["html"], ""
            case "reset":
                done = still_open = ""
        if "side" in value:
            shown[value["side"]] = (done, still_open)
    return {side: done + still_open for side, (done, still_open) in shown.items()}
