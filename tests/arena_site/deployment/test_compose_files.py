import os
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from arena_site.version import VERSION
from tests.worlds.compose_file import SECRETS, Service, by_name, interpolated, services

ROOT: Path = settings.BASE_DIR
OURS = [service for service in services() if service.is_ours]
LONG_RUNNING = [service for service in services() if not service.is_one_shot]
HEALTH_COMMANDS = {"CMD", "CMD-SHELL"}


def overrides(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / name).read_text())["services"])


def test_each_image_is_built_by_one_service_as_this_version():
    builders = Counter(service["image"] for service in services() if service.get("build"))
    assert builders == {f"arena:{VERSION}": 1, f"arena-local-model:{VERSION}": 1}


@pytest.mark.parametrize("service", [*OURS, by_name("local-model")], ids=lambda service: service.name)
def test_our_images_are_pulled_from_a_named_place_only(service: Service):
    """The name `arena` on a public registry is not ours."""
    assert service["pull_policy"] == "never"
    pulled = overrides("docker-compose.images.yml")[service.name]
    place = {"ARENA_IMAGE_PREFIX": "registry.example.org/team/"}
    assert pulled.keys() == {"image", "pull_policy"}
    assert pulled["pull_policy"] == "missing"
    assert interpolated(pulled["image"], place) == f"registry.example.org/team/{service['image']}"
    with pytest.raises(AssertionError, match="ARENA_IMAGE_PREFIX has neither a value nor a default"):
        interpolated(pulled["image"], {})


def test_only_our_images_are_pulled_from_there():
    ours = {service.name for service in services() if service["image"].startswith("arena")}
    assert overrides("docker-compose.images.yml").keys() == ours


def test_build_targets_are_stages_of_the_dockerfile():
    stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {service["build"]["target"] for service in services() if service.get("build")} <= set(stages)


@pytest.mark.parametrize("service", LONG_RUNNING, ids=lambda service: service.name)
def test_long_running_service_has_a_health_check(service: Service):
    check = service["healthcheck"]
    assert check["test"][0] in HEALTH_COMMANDS
    assert {"interval", "timeout"} <= set(check)


def test_caddy_is_checked_with_get():
    """Caddy's admin API answers HEAD with 405."""
    assert "--spider" not in by_name("proxy")["healthcheck"]["test"]


def test_valkey_check_fails_on_an_error_reply():
    assert "valkey-cli -e ping" in " ".join(by_name("valkey")["healthcheck"]["test"])


@pytest.mark.parametrize("path", sorted(ROOT.glob("docker-compose*.yml")), ids=lambda path: path.name)
def test_compose_files_name_no_path_of_a_host(path: Path):
    for service in yaml.safe_load(path.read_text())["services"].values():
        for mount in service.get("volumes", []):
            assert not mount.startswith(("/", "~", "$", "..")), mount
        build = service.get("build", {})
        assert build.get("context", ".") == "."
        assert not service.get("env_file", ".env").startswith(("/", "~", ".."))


@pytest.mark.parametrize("service", OURS, ids=lambda service: service.name)
def test_our_containers_have_memory_and_pid_limits(service: Service):
    assert re.fullmatch(r"\d+g", service["mem_limit"])
    assert service["pids_limit"] >= 500


def test_answer_worker_may_have_a_thread_per_answer():
    concurrency = shlex.split(by_name("worker-answers")["command"])[-1]
    assert concurrency == "${ARENA_ANSWER_CONCURRENCY:-100}"
    assert by_name("worker-answers")["pids_limit"] >= 2000


def test_example_settings_include_a_model_to_battle_with():
    example = (ROOT / ".env.example").read_text()
    (profiles,) = re.findall(r"^COMPOSE_PROFILES=(.*)$", example, re.MULTILINE)
    local_model = by_name("local-model")
    assert profiles.split(",") == local_model["profiles"]
    address = by_name("web").environment(**SECRETS)
    port = local_model.command()[local_model.command().index("--port") + 1]
    assert address["ARENA_LOCAL_MODEL_URL"] == f"http://{local_model.name}:{port}/v1"


def test_no_service_waits_for_one_of_a_profile_that_may_be_off():
    """podman-compose ends with a KeyError; a local model that cannot start would keep the arena from starting."""
    profiles = {service.name: set(service.get("profiles", [])) for service in services()}
    for service in services():
        for name in service.get("depends_on", {}):
            assert profiles[name] <= profiles[service.name], f"{service.name} waits for {name}"


@pytest.mark.parametrize("name", ["worker-answers", "worker-benchmarks", "worker-default", "sweeper", "beat"])
def test_background_health_is_the_age_of_its_heartbeat(name: str):
    environment = by_name(name).environment(**SECRETS)
    assert environment["ARENA_HEARTBEAT_FILE"] in by_name(name)["healthcheck"]["test"][1]


def test_local_model_gets_no_setting_and_no_secret():
    assert not {"env_file", "environment", "volumes"} & set(by_name("local-model").config)


def test_machines_file_publishes_privately_with_passwords():
    """Docker's published ports bypass the host's firewall: bind them to one address, and give Valkey a password."""
    override = overrides("docker-compose.machines.yml")
    assert set(override) == {"postgres", "valkey"}
    for name, port in (("postgres", 5432), ("valkey", 6379)):
        (published,) = override[name]["ports"]
        assert re.fullmatch(rf"\$\{{ARENA_PRIVATE_ADDRESS:\?[^}}]+\}}:{port}:{port}", published)
    assert override["valkey"]["environment"]["REDISCLI_AUTH"].startswith("${VALKEY_PASSWORD:?")
    command = by_name("valkey")["command"]
    assert command[command.index("--requirepass") + 1] == "${VALKEY_PASSWORD:-}"


@pytest.mark.parametrize(
    ("password", "url"),
    [("", "redis://:@valkey:6379/0"), ("secret", "redis://:secret@valkey:6379/0")],
)
def test_arena_sends_the_password_that_valkey_has(password: str, url: str):
    values = SECRETS | ({"VALKEY_PASSWORD": password} if password else {})
    assert by_name("web").environment(**values)["REDIS_URL"] == url


def test_readme_and_workflow_start_compose_the_same_way():
    readme = (ROOT / "README.md").read_text()
    (commands,) = re.findall(r"## For a team\n\n```sh\n(.*?)```", readme, re.DOTALL)
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    steps = [step.get("run") for step in workflow["jobs"]["image"]["steps"]]
    assert [step for step in steps if step in commands.splitlines()] == commands.splitlines()
    assert steps.index(".ci/first_vote.py https://localhost") > steps.index(commands.splitlines()[-1])
    assert os.access(ROOT / ".ci/first_vote.py", os.X_OK)


def test_collector_gets_the_lines_of_all_our_processes():
    """The collector has no way to Docker: its socket is as good as the machine's root."""
    collector = by_name("logs")
    ours = {service.name for service in OURS} - {"ollama-register"}
    collected = overrides("docker-compose.logs.yml")
    assert collected.keys() == ours
    config = yaml.safe_load((ROOT / "deploy/vector.yaml").read_text())
    (port,) = collector["ports"]
    for service in collected.values():
        assert service["logging"]["options"]["fluentd-address"] == port.rpartition(":")[0]
        assert service["logging"]["options"]["fluentd-async"] == "true"
    assert port.startswith("127.0.0.1:")
    assert config["sources"]["containers"]["address"].endswith(f":{port.rpartition(':')[2]}")
    assert config["data_dir"] == "/vector"
    assert config["sinks"]["days"]["path"].startswith("/vector/logs/")
    assert config["api"]["address"] in collector["healthcheck"]["test"][-1]
