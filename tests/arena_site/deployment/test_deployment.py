import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.management import get_commands, load_command_class

from arena_site.supervisor.site import Site
from models_registry.config.models_file import import_models
from models_registry.models import LanguageModel
from tests.worlds.compose_file import SECRETS, Service, by_name, made_secrets, services

ROOT: Path = settings.BASE_DIR
OURS = [service for service in services() if service.is_ours]
each_of_ours = pytest.mark.parametrize("service", OURS, ids=lambda service: service.name)
each_service = pytest.mark.parametrize("service", services(), ids=lambda service: service.name)


def dockerfile() -> list[tuple[str, str]]:
    """Return (instruction, rest), continued lines joined."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split()[0], line.split(maxsplit=1)[1].strip()) for line in text.splitlines() if line.strip()]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("vendor.compose-spec", "docker-compose.yml"),
        ("vendor.compose-spec", "docker-compose.gpu.yml"),
        ("vendor.compose-spec", "docker-compose.machines.yml"),
        ("vendor.compose-spec", "docker-compose.images.yml"),
        ("vendor.github-workflows", ".github/workflows/test.yml"),
        ("vendor.github-workflows", ".github/workflows/supply-chain.yml"),
        ("vendor.github-workflows", ".github/workflows/images.yml"),
    ],
)
def test_files_follow_their_schema(schema: str, file: str):
    checker = Path(sys.executable).with_name("check-jsonschema")
    subprocess.run([checker, "--builtin-schema", schema, ROOT / file], check=True, capture_output=True)


@pytest.mark.parametrize("name", ["worker-answers", "worker-default", "sweeper", "beat"])
def test_background_services_run_what_make_up_runs(name: str):
    def same(command: list[str]) -> list[str]:
        return ["…/beat-schedule" if word.endswith("/beat-schedule") else word for word in command]

    program = next(program for program in Site.from_environment().background_programs() if program.name == name)
    assert same(["python", *program.command[1:]]) == same(by_name(name).command())


def exists(command: list[str]) -> bool:
    match command:
        case ["nice", "-n", "10", *rest]:
            return exists(rest)
        case ["python", "-m", module, *_]:
            return find_spec(module) is not None
        case ["python", "manage.py", name, *options]:
            load_command_class(get_commands()[name], name).create_parser("manage.py", name).parse_args(options)
            return True
        case ["sh", "-ec", script]:
            file, rest = script.split(maxsplit=1)
            return os.access(ROOT / file, os.X_OK) and exists(rest.split("|")[1].split())
    return False


@each_of_ours
def test_commands_of_our_image_exist(service: Service):
    assert exists(service.command())


@each_of_ours
def test_our_containers_are_read_only_without_capabilities(service: Service):
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in service.config
    assert "privileged" not in service.config


def test_only_proxy_publishes_ports_to_networks():
    published = {service.name: service["ports"] for service in services() if service.get("ports")}
    assert set(published) == {"proxy", "grafana", "logs"}
    assert all(port.startswith("127.0.0.1:") for port in (*published["grafana"], *published["logs"]))


@each_service
def test_images_are_pinned_and_services_restart(service: Service):
    assert service.get("build") or service.is_ours or re.search(r":v?\d+(\.\d+)*(-alpine)?$", service["image"])
    assert service.is_one_shot or service["restart"] == "unless-stopped"


@each_service
def test_depends_on_conditions_can_be_met(service: Service):
    for name, dependency in service.get("depends_on", {}).items():
        awaited = by_name(name)
        if dependency["condition"] == "service_completed_successfully":
            assert awaited.is_one_shot
        else:
            assert dependency["condition"] == "service_healthy"
            assert "test" in awaited["healthcheck"]


@each_service
def test_mounted_sources_exist(service: Service):
    volumes = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["volumes"]
    for mount in service.get("volumes", []):
        source = mount.split(":")[0]
        if source.startswith("./"):
            assert (ROOT / source).exists()
            assert mount.endswith(":ro")
        else:
            assert source in volumes


@each_service
def test_compose_file_contains_no_secrets(service: Service):
    environment = service.get("environment", {})
    for name in environment:
        if re.search("KEY|SECRET|PASSWORD|TOKEN|AUTH$", name) and environment[name] != "":
            assert re.fullmatch(r"\$\{\w+:[-?].*\}", environment[name]), name
        assert not re.search(r"://[^/$]*:[^/$]+@", str(environment[name]))


def test_images_run_as_unprivileged_user_on_pinned_base():
    instructions = dockerfile()
    assert [rest for name, rest in instructions if name == "USER"] == ["10001:10001"] * 3
    assert not [rest for name, rest in instructions if name == "ADD"]
    stages = {rest.partition(" AS ")[2] for name, rest in instructions if name == "FROM"}
    for name, rest in instructions:
        if name == "FROM":
            base = rest.partition(" AS ")[0]
            assert base == "python:3.11-slim-bookworm" or base in stages


def test_image_commands_exist_and_health_is_for_compose():
    """Engines other than Docker refuse --start-interval, so only the image of one container checks itself."""
    assert all(exists(json.loads(rest)) for name, rest in dockerfile() if name == "CMD")
    (check,) = [rest for name, rest in dockerfile() if name == "HEALTHCHECK"]
    assert "--start-interval" not in check
    assert exists(json.loads(check.partition("CMD ")[2]))
    assert exists(by_name("web")["healthcheck"]["test"][1:])


def test_image_installs_pinned_pip_first_with_a_cache():
    """Python 3.11's own pip is slow, and without a cache every change of a list downloads everything again."""
    installs = [rest for name, rest in dockerfile() if name == "RUN" and "pip install" in rest]
    assert "requirements/pip.txt" in installs[0]
    assert len(installs) == 4
    assert all(rest.startswith("--mount=type=cache,target=/root/.cache/pip ") for rest in installs)
    assert not any("NO_CACHE" in rest for _, rest in dockerfile())


def test_image_and_compose_agree_on_paths():
    environment = dict(
        word.split("=", 1) for name, rest in dockerfile() if name == "ENV" for word in rest.split() if "=" in word
    )
    for service in OURS:
        service_environment = service.environment(**SECRETS)
        assert service_environment["ARENA_DATA_DIR"] == environment["ARENA_DATA_DIR"]
        assert "uploads:/data/uploads" in service["volumes"]
    assert any("/data/uploads" in rest for name, rest in dockerfile() if name == "RUN")


def test_only_prepare_signs_in_as_owner_of_database():
    env_file = SECRETS | {"POSTGRES_PASSWORD": "owners", "POSTGRES_SITE_PASSWORD": "sites"}
    for service in OURS:
        seen = env_file | service.environment(**env_file)
        if service.name == "prepare":
            assert seen["DATABASE_URL"] == "postgres://arena:owners@postgres:5432/arena"
        else:
            assert seen["DATABASE_URL"] == "postgres://arena_site:sites@postgres:5432/arena"
            assert "owners" not in seen.values()


def test_database_elsewhere_is_prepared_as_its_owner():
    prepare = by_name("prepare")
    site, owner = "postgres://arena_site@db/arena", "postgres://arena@db/arena"
    assert prepare.environment(**SECRETS, DATABASE_URL=site)["DATABASE_URL"] == site
    assert prepare.environment(**SECRETS, DATABASE_URL=site, DATABASE_OWNER_URL=owner)["DATABASE_URL"] == owner


def admitted_paths() -> set[str]:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[1] == "*"  # everything else is excluded: .env, .git, tests, data
    return {line[1:] for line in lines if line.startswith("!")}


def test_dockerignore_admits_existing_needed_paths_only():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["importlinter"]["root_packages"])
    texts = {"locale", "docs/method.md", "docs/method.fr.md"}
    ours = {"manage.py", "templates", "static", "config", "deploy/ollama_models.sh", "examples/import_formats"} | texts
    lists = {"requirements/arena.txt", "requirements/local-model.txt", "requirements/pip.txt"}
    assert admitted_paths() == packages | ours | lists
    for path in admitted_paths():
        assert (ROOT / path).exists()
    copied = [rest.split()[:-1] for name, rest in dockerfile() if name == "COPY" and "--from" not in rest]
    assert copied[-1] == ["."]
    assert all((ROOT / source).exists() for sources in copied for source in sources)


def test_workflow_runs_the_ci_script():
    workflow: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    assert set(workflow[True]) == {"push", "pull_request"}  # YAML reads the key "on" as true
    test = workflow["jobs"]["test"]
    assert test["container"]["image"] == "debian:12"
    assert test["steps"][-1]["run"] == ".ci/run"
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.processes
def test_generated_secrets_are_new_and_valid():
    first, second = made_secrets(), made_secrets()
    assert set(first) == {*SECRETS, "VALKEY_PASSWORD"}
    assert not set(first.values()) & set(second.values())
    assert len(first["SECRET_KEY"]) >= 50
    Fernet(first["ARENA_ENCRYPTION_KEYS"]).encrypt(b"a key")
    for name in ("POSTGRES_PASSWORD", "POSTGRES_SITE_PASSWORD", "VALKEY_PASSWORD"):
        assert re.fullmatch(r"[\w-]{32}", first[name])  # safe in a URL
    assert "$" not in "".join(first.values())  # Compose would interpolate it


@pytest.mark.processes
@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "deploy").glob("*.sh")))
def test_deploy_scripts_are_executable_and_parse(script: str):
    assert os.access(ROOT / "deploy" / script, os.X_OK)
    subprocess.run(["/bin/sh", "-n", ROOT / "deploy" / script], check=True)


@pytest.mark.processes
@pytest.mark.parametrize(("other", "has_arena", "is_refused"), [("17", "", True), ("", "", False), ("17", "1", False)])
def test_new_cluster_beside_another_version_is_refused(tmp_path: Path, other: str, has_arena: str, is_refused: bool):
    for version in filter(None, ("18", other)):
        (tmp_path / version / "docker").mkdir(parents=True)
        (tmp_path / version / "docker" / "PG_VERSION").write_text(version)
    (tmp_path / "psql").write_text(f"#!/bin/sh\necho {has_arena}\n")
    (tmp_path / "psql").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "PGDATA": str(tmp_path / "18" / "docker"),
        "POSTGRES_PASSWORD": "p", "POSTGRES_SITE_PASSWORD": "s",
    }  # fmt: skip
    done = subprocess.run([ROOT / "deploy/make_database.sh"], env=environment, capture_output=True, text=True)
    assert (done.returncode == 1) is is_refused is ("The volume has the database of PostgreSQL 17" in done.stderr)
    assert (tmp_path / "18/docker/PG_VERSION").exists() is not is_refused
    assert not other or (tmp_path / "17/docker/PG_VERSION").exists()


@pytest.mark.processes
@pytest.mark.django_db
@pytest.mark.parametrize("separator", [" ", ",", ", "])
def test_models_pulled_by_ollama_are_registered(separator: str):
    qwen = "hf.co/Qwen/Qwen3-1.7B_GGUF:Q4_K_M"
    names = separator.join(["llama3.2", qwen])
    listed = subprocess.run([ROOT / "deploy/ollama_models.sh", names], check=True, capture_output=True, text=True)
    import_models(listed.stdout)
    models = LanguageModel.objects.order_by("-slug").values_list("slug", "upstream_name", "provider__base_url")
    assert list(models) == [
        ("llama3.2-ollama", "llama3.2", "http://ollama:11434/v1"),
        ("hf.co-qwen-qwen3-1.7b-gguf-q4-k-m-ollama", qwen, "http://ollama:11434/v1"),
    ]
