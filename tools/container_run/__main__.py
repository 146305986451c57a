"""Build the images and play battles in their containers: `python -m tools.container_run [--port 8000]`.

Pulls nothing: the base image and those of Caddy, PostgreSQL and Valkey are stand-ins, made of Debian's packages and of
those in arena-all. Needs root and Debian's packages mmdebstrap, buildah, podman, runc and iptables.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from arena_site.version import VERSION
from tools.container_run.engine import BASE, Engine

ROOT = Path(__file__).parents[2]
IMAGES = {"arena": "arena", "arena-local-model": "local-model", "arena-all": "arena-all"}
# Restrictions that docs/operating.md names.
HARDENED = (
    "--read-only",
    "--read-only-tmpfs=false",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
)
START_TIMEOUT_S = 180


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--folder", type=Path, help="keep images here, and use those of an earlier run")
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")
    from tools.container_run.services import running_services  # its helper of tests reads Django's settings

    with tempfile.TemporaryDirectory(prefix="arena-containers-", ignore_cleanup_errors=True) as temporary:
        folder = chosen.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        engine = Engine(folder)
        try:
            build_all(engine)
            try_one_container(engine, chosen.port)
            with running_services(engine, chosen.port):
                first_vote(f"https://localhost:{chosen.port}")
        except AssertionError as error:
            sys.exit(f"FAILED: {error}")
        finally:
            engine.podman("volume", "prune", "--force", check=False)
            if chosen.folder is None:
                engine.podman("system", "reset", "--force", check=False)


def report(step: str, began: float) -> None:
    print(f"{step}: {time.monotonic() - began:.1f} s", flush=True)


def build_all(engine: Engine) -> None:
    if engine.podman("image", "exists", f"localhost/{BASE}", check=False).returncode:
        began = time.monotonic()
        engine.make_base()
        report("base of Debian's packages", began)
    for image, target in IMAGES.items():
        began = time.monotonic()
        engine.build(image, ROOT, target)
        engine.podman("tag", image, f"{image}:{VERSION}")
        report(f"{image}, {engine.megabytes(image)} MB", began)
    for folder in sorted((Path(__file__).parent / "stand_ins").iterdir()):
        engine.build(f"{folder.name}-stand-in", folder)


class OneContainer:
    """A container of arena-all."""

    def __init__(self, engine: Engine, port: int) -> None:
        self.engine, self.port = engine, port

    def run(self, *options: str) -> None:
        self.remove()
        self.engine.podman("run", "--detach", "--name", "one", "--publish", f"{self.port}:8000", *options, "arena-all")

    def remove(self) -> None:
        self.engine.podman("rm", "--force", "--time", "10", "one", check=False)

    def log(self) -> str:
        done = self.engine.podman("logs", "one", check=False)
        return done.stdout + done.stderr

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            with suppress(OSError, ValueError), urllib.request.urlopen(self.url + "/readyz", timeout=5) as response:
                if json.load(response)["ready"]:
                    return
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def votes(self) -> int:
        code = "from battles.models import Vote; print(Vote.objects.count())"
        done = self.engine.podman("exec", "one", "python", "manage.py", "shell", "--no-imports", "-c", code)
        return int(done.stdout.split()[-1])


def try_one_container(engine: Engine, port: int) -> None:
    one = OneContainer(engine, port)
    try:
        timed("arena-all: first start until ready", lambda: one.run("--volume=data:/data"), one.wait_until_ready)
        timed("arena-all: first battle and vote", lambda: first_vote(one.url))
        print(one.log())
        engine.podman("exec", "one", "python", "-m", "arena_site.healthcheck")
        engine.podman("exec", "one", "python", "manage.py", "backup", "/data/arena.zip")
        timed("arena-all: stop", lambda: engine.podman("stop", "one"))
        assert one.log().rstrip().endswith("Arena stopped."), one.log()
        timed("arena-all: second start", lambda: engine.podman("start", "one"), one.wait_until_ready)
        engine.podman("kill", "one")
        timed("arena-all: start after SIGKILL", lambda: engine.podman("start", "one"), one.wait_until_ready)
        assert one.votes() == 1
        one.run("--volume=data:/data", *HARDENED)
        one.wait_until_ready()
        first_vote(one.url)
        assert one.votes() == 2
        print("arena-all: the same volume, on a read-only file system without capabilities")
        one.remove()
        restore = ("python", "-m", "arena_site.supervisor", "restore", "/old/arena.zip")
        engine.podman("run", "--rm", "--volume=data:/old:ro", "--volume=other:/data", "arena-all", *restore)
        one.run("--volume=other:/data")
        one.wait_until_ready()
        assert one.votes() == 1
        print("arena-all: a backup, restored into another volume")
        one.run("--user=1234:0", "--volume=arbitrary:/data")
        one.wait_until_ready()
        print("arena-all: as the user 1234 of the group 0")
        one.remove()
        refused = engine.podman("run", "--rm", "--volume=arbitrary:/data", "arena-all", check=False)
        assert (refused.returncode, "cannot write to /data" in refused.stderr) == (1, True), refused
        print(f"arena-all: on another user's volume: {refused.stderr.strip().splitlines()[-1]}")
    finally:
        one.remove()


def timed(step: str, *actions: Callable[[], object]) -> None:
    began = time.monotonic()
    for action in actions:
        action()
    report(step, began)


def first_vote(url: str) -> None:
    done = subprocess.run([ROOT / ".ci/first_vote.py", url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    print(f"{url}: {done.stdout.strip()}", flush=True)


if __name__ == "__main__":
    main()
