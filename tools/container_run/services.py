"""The services of docker-compose.yml in podman, in compose's order, without compose."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.worlds.compose_file import Service, by_name, interpolated, make_secrets
from tools.container_run.engine import Engine

ROOT = Path(__file__).parents[2]
NETWORK = "arena-services"
STAND_INS = {"postgres:18": "postgres-stand-in", "valkey/valkey:9": "valkey-stand-in", "caddy:2": "caddy-stand-in"}
IN_ORDER = (
    "postgres", "valkey", "local-model", "prepare",
    "web", "worker-answers", "worker-default", "sweeper", "beat", "proxy",
)  # fmt: skip
HEALTH_TIMEOUT_S = 120


@contextmanager
def running_services(engine: Engine, port: int) -> Iterator[None]:
    """Run the services of a default installation; the proxy serves HTTPS on this port."""
    env_file = engine.folder / "env"
    env_file.write_text((ROOT / ".env.example").read_text())
    done = make_secrets(env_file)
    assert done.returncode == 0, done.stderr
    lines = [line for line in env_file.read_text().splitlines() if "=" in line and not line.startswith("#")]
    values = dict(line.split("=", 1) for line in lines)
    engine.podman("network", "create", NETWORK)
    try:
        for name in IN_ORDER:
            began = time.monotonic()
            service = by_name(name)
            engine.podman(*_run_arguments(service, values, env_file, port))
            if service.is_one_shot:
                status = engine.podman("wait", name).stdout.strip()
                assert status == "0", engine.podman("logs", name).stdout
            else:
                _wait_until_healthy(engine, service)
            print(f"{name}: {'done' if service.is_one_shot else 'healthy'} after {time.monotonic() - began:.1f} s")
        yield
    except AssertionError:
        for name in IN_ORDER:
            print(f"--- {name}\n{_log(engine, name)}")
        raise
    finally:
        engine.podman("rm", "--force", "--volumes", "--time", "5", *IN_ORDER, check=False)
        engine.podman("network", "rm", "--force", NETWORK)


def _run_arguments(service: Service, values: dict[str, str], env_file: Path, port: int) -> list[str]:
    arguments = ["run", "--detach", "--name", service.name, "--network", NETWORK]
    if service.get("env_file"):
        arguments += ["--env-file", str(env_file)]
    for name, value in service.get("environment", {}).items():
        arguments += ["--env", f"{name}={interpolated(str(value), values)}"]
    for mount in service.get("volumes", []):
        source, rest = mount.split(":", 1)
        arguments += ["--volume", f"{ROOT / source if source.startswith('./') else f'services-{source}'}:{rest}"]
    if service.get("read_only"):
        arguments += ["--read-only", "--read-only-tmpfs=false"]
    if service.get("tmpfs"):
        arguments += ["--tmpfs", service["tmpfs"]]
    if service.get("shm_size"):
        arguments += ["--shm-size", service["shm_size"]]
    for key, option in (("cap_drop", "--cap-drop"), ("cap_add", "--cap-add"), ("security_opt", "--security-opt")):
        for each in service.get(key, []):
            arguments += [option, each.removesuffix(":true")]
    if service.get("mem_limit"):
        arguments += ["--memory", service["mem_limit"]]
    if service.get("pids_limit"):
        arguments += ["--pids-limit", str(service["pids_limit"])]
    if service.name == "proxy":
        arguments += ["--publish", f"127.0.0.1:{port}:443"]
    words = service.command(**values) if service.get("command") else []
    command = [interpolated(word, values).replace("$$", "$") for word in words]
    image = STAND_INS.get(service["image"], service["image"])
    return [*arguments, image, *command]


def _wait_until_healthy(engine: Engine, service: Service) -> None:
    kind, *test = service["healthcheck"]["test"]
    command = ["sh", "-c", test[0].replace("$$", "$")] if kind == "CMD-SHELL" else test
    deadline = time.monotonic() + HEALTH_TIMEOUT_S
    while engine.podman("exec", service.name, *command, check=False).returncode:
        assert time.monotonic() < deadline, f"{service.name} is not healthy:\n{_log(engine, service.name)}"
        time.sleep(0.5)


def _log(engine: Engine, name: str) -> str:
    done: subprocess.CompletedProcess[str] = engine.podman("logs", "--tail", "15", name, check=False)
    return done.stdout + done.stderr
