"""Processes started by the commands of docker-compose.yml, with production settings."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.conf import settings

from arena_site.healthcheck import is_alive
from tests.arena_site.databases import database_with_tables, url_of_site_role
from tests.fake_provider import FakeProvider
from tests.waiting import wait_for
from tests.worlds.arena import copy_prepared_data, free_port
from tests.worlds.compose_file import Service, by_name, made_secrets

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


BACKGROUND = ("worker-answers", "worker-default", "sweeper", "beat")


def heartbeat_file(service: str, environment: dict[str, str]) -> Path:
    return Path(environment["ARENA_DATA_DIR"], f"{service}.heartbeat")


@contextmanager
def running(service: Service, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    program, *options = service.command()
    port = environment["ARENA_PORT"]
    command = [sys.executable, *(port if word == "8000" else word for word in options)]
    assert program == "python"
    with Path(environment["ARENA_DATA_DIR"], f"{service.name}.log").open("wb") as log:
        own = {"ARENA_HEARTBEAT_FILE": str(heartbeat_file(service.name, environment))}
        process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment | own, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(300)


def collect_static_files_as_the_image_does(environment: dict[str, str]) -> None:
    """Copy what the same command has collected for this test run; the command itself only lists the files."""
    copy_prepared_data(Path(environment["ARENA_DATA_DIR"]), "static")
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--dry-run", "--verbosity", "0"]
    settings_for_it = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.local"}
    without_secrets = {name: environment[name] for name in ("PATH", "ARENA_DATA_DIR")}
    subprocess.run(command, cwd=settings.BASE_DIR, env=without_secrets | settings_for_it, check=True)


@dataclass
class Proxy:
    """Client that sends a proxy's headers and keeps Secure cookies over plain HTTP."""

    port: int

    def __post_init__(self) -> None:
        self.headers = {"Host": "arena.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, json: object = None) -> Any:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        everything = self.headers | cookie | (headers or {})
        response = httpx2.request(
            method, f"http://127.0.0.1:{self.port}{path}", headers=everything, json=json, timeout=20
        )
        for set_cookie in response.headers.get_list("Set-Cookie"):
            name, _, rest = set_cookie.partition("=")
            assert "; Secure" in rest
            assert not name.startswith("__Host-") or ("; Path=/" in rest and "Domain" not in rest)
            self.cookies[name] = rest.partition(";")[0]
        return response

    def start_battle(self) -> Any:
        self.ask("GET", "/api/v1/models/")
        proof = {"Origin": "https://arena.example", "X-CSRFToken": self.cookies["csrftoken"]}
        return self.ask("POST", "/api/v1/sessions/", headers=proof, json={"prompt": "one two three"})


@contextmanager
def deployed(tmp_path: Path, **settings_of_the_test: str) -> Iterator[Proxy]:
    """Run every container's process without containers."""
    with database_with_tables() as database:
        given = {
            "DATABASE_URL": url_of_site_role(database),
            "DATABASE_OWNER_URL": database,
            "REDIS_URL": f"{os.environ['REDIS_URL']}?db=1",
            "ARENA_DOMAIN": "arena.example",
        }
        environment = {
            **by_name("web").environment(**made_secrets(), **given),
            "PATH": os.environ["PATH"],
            "ARENA_ENV_FILE": os.devnull,
            "DJANGO_SETTINGS_MODULE": "arena_site.settings.production",
            "ARENA_PORT": str(free_port()),
            "ARENA_DATA_DIR": str(tmp_path),
            "ARENA_TRUSTED_PROXIES": "127.0.0.1",
            **settings_of_the_test,
        }
        collect_static_files_as_the_image_does(environment)
        owner = environment | {"DATABASE_URL": database}
        with running(by_name("prepare"), owner) as preparing:
            assert preparing.wait(300) == 0, (tmp_path / "prepare.log").read_text()
        with ExitStack() as stack:
            for name in (*BACKGROUND, "web"):
                stack.enter_context(running(by_name(name), environment))
            yield Proxy(int(environment["ARENA_PORT"]))


def test_deployed_arena_answers_behind_proxy(
    tmp_path: Path, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
):
    models = tmp_path / "models.yaml"
    entry = '- {{id: {0}, name: {0}, model: honest, base_url: "{1}", needs_key: false}}\n'
    models.write_text("".join(entry.format(name, fake_provider.base_url) for name in ("one", "two")))
    monkeypatch.setenv("ARENA_HOSTS", "arena.example")
    with deployed(tmp_path, ARENA_MODELS_FILE=str(models), ARENA_ALLOW_PRIVATE_PROVIDERS="true") as proxy:
        wait_for(lambda: is_alive(proxy.port))
        wait_for(lambda: proxy.ask("GET", "/readyz").status_code == 200)
        assert all((tmp_path / f"{name}.heartbeat").exists() for name in BACKGROUND)
        page = proxy.ask("GET", "/")
        assert page.status_code == 200
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert proxy.ask("GET", "/livez", headers={"Host": "elsewhere.example"}).status_code == 400
        assert proxy.ask("GET", "/livez", headers={"X-Forwarded-Proto": "http"}).status_code == 301

        started = proxy.start_battle()
        assert started.status_code == 201, started.text
        assert set(proxy.cookies) == {"csrftoken", "__Host-arena_visitor"}
        battle = f"/api/v1/battles/{started.json()['battles'][0]['id']}/"
        wait_for(lambda: proxy.ask("GET", battle).json()["can_vote"])
    assert not is_alive(proxy.port)
