"""The commands of docker-compose.yml, run with its environment and the production settings, make an arena."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from django.conf import settings

from arena_site.healthcheck import is_alive
from tests.arena_site.compose import Service, services
from tests.arena_site.databases import database_without_tables
from tests.arena_site.test_deployment import made_secrets
from tests.faults.running import free_port, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]


@contextmanager
def running(service: Service, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    program, *options = service.command()
    port = environment["ARENA_PORT"]
    command = [sys.executable, *(port if word == "8000" else word for word in options)]
    assert program == "python"
    with Path(environment["ARENA_DATA_DIR"], f"{service.name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(15)


def collect_static_files_as_the_image_does(environment: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    settings_for_it = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.local"}
    without_secrets = {name: environment[name] for name in ("PATH", "ARENA_DATA_DIR", "ARENA_STATIC_ROOT")}
    subprocess.run(command, cwd=settings.BASE_DIR, env=without_secrets | settings_for_it, check=True)


def test_an_arena_behind_its_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    by_name = {service.name: service for service in services() if service.is_ours}
    with database_without_tables() as database:
        given = made_secrets() | {
            "DATABASE_URL": database,
            "REDIS_URL": f"{os.environ['REDIS_URL']}?db=1",
            "ARENA_DOMAIN": "arena.example",
        }
        environment = by_name["web"].environment(**given) | {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "arena_site.settings.production",
            "ARENA_PORT": str(free_port()),
            "ARENA_DATA_DIR": str(tmp_path),
            "ARENA_STATIC_ROOT": str(tmp_path / "static"),
            "ARENA_UPLOADS_DIR": str(tmp_path / "uploads"),
            "ARENA_TRUSTED_PROXIES": "127.0.0.1",
        }
        collect_static_files_as_the_image_does(environment)
        with running(by_name["prepare"], environment) as preparing:
            assert preparing.wait(90) == 0, (tmp_path / "prepare.log").read_text()
        with ExitStack() as stack:
            for name in ("worker-answers", "worker-default", "sweeper", "beat", "web"):
                stack.enter_context(running(by_name[name], environment))
            port = int(environment["ARENA_PORT"])
            monkeypatch.setenv("ARENA_HOSTS", environment["ARENA_HOSTS"])
            wait_for(lambda: is_alive(port), within=60)
            proxied = {"Host": "arena.example", "X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
            client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=proxied)
            wait_for(lambda: client.get("/readyz").status_code == 200, within=60)
            page = client.get("/")
            assert page.status_code == 200
            assert all(name.startswith("__Host-") or name == "csrftoken" for name in page.cookies)
            assert client.get("/livez", headers={"Host": "elsewhere.example"}).status_code == 400
            assert client.get("/livez", headers={"X-Forwarded-Proto": "http"}).status_code == 301
    assert not is_alive(port)
