"""The Kubernetes files follow the schema of Kubernetes and run what the compose file runs."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

from arena_site.celery import app
from tests.worlds.compose_file import SECRETS, by_name

pytestmark = pytest.mark.slow

FOLDER: Path = settings.BASE_DIR / "deploy" / "kubernetes"
# The oldest release with a schema, and the newest one.
RELEASES = ("1.25", kubernetes_validate.latest_version())


def read_all(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text()))


def kustomization(name: str) -> dict[str, Any]:
    (content,) = read_all(FOLDER / name / "kustomization.yaml")
    return dict(content)


def resources(name: str) -> list[Any]:
    """Return the resources of a kustomization's own files."""
    files = [FOLDER / name / file for file in kustomization(name)["resources"] if file.endswith(".yaml")]
    return [document for file in files for document in read_all(file)]


def of_kind(kind: str, name: str = "base") -> dict[str, Any]:
    return {each["metadata"]["name"]: each for each in resources(name) if each["kind"] == kind}


def pods() -> dict[str, Any]:
    workloads = of_kind("Deployment") | of_kind("Job") | of_kind("Deployment", "benchmarks")
    return {name.removeprefix("arena-"): workload["spec"]["template"] for name, workload in workloads.items()}


def containers(pod: Any) -> list[Any]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


@pytest.mark.parametrize("release", RELEASES)
def test_resources_follow_the_schema(release: str):
    for resource in resources("base") + resources("example") + resources("benchmarks"):
        kubernetes_validate.validate(resource, release, strict=True)


@pytest.mark.parametrize("name", ["base", "example", "benchmarks"])
def test_kustomization_lists_every_file(name: str):
    content = kustomization(name)
    listed = set(content["resources"]) - {"../base"}
    for generator in [*content.get("secretGenerator", []), *content.get("configMapGenerator", [])]:
        listed |= {*generator.get("envs", []), *generator.get("files", [])}
    assert listed == {path.name for path in (FOLDER / name).iterdir()} - {"kustomization.yaml"}


@pytest.mark.parametrize(
    "name", ["web", "worker-answers", "worker-benchmarks", "worker-default", "sweeper", "beat", "prepare"]
)
def test_pods_run_what_compose_runs_with_its_memory(name: str):
    (container,) = pods()[name]["spec"]["containers"]
    compose = by_name(name)
    assert container["command"] == [word.replace("compose", "kubernetes") for word in compose.command()]
    assert container["resources"]["limits"]["memory"] == f"{compose['mem_limit'].removesuffix('g')}Gi"
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    assert {volume["name"] for volume in pods()[name]["spec"]["volumes"]} == set(mounts.values())
    assert {"/tmp", "/data/uploads"} <= set(mounts)


def test_own_worker_takes_runs_from_answer_workers():
    (patch,) = kustomization("benchmarks")["patches"]
    place = int(yaml.safe_load(patch["patch"])[1]["path"].rpartition("/")[2])
    (answers,) = pods()["worker-answers"]["spec"]["containers"]
    assert (answers["command"][place - 1], answers["command"][place]) == ("-Q", "answers,benchmarks")
    assert pods()["worker-benchmarks"]["spec"]["containers"][0]["command"][:3] == ["nice", "-n", "10"]
    assert app.conf.task_routes["benchmarks.tasks.drive_run"] == {"queue": "benchmarks"}


def test_settings_are_those_of_compose():
    ours = of_kind("ConfigMap")["arena-settings"]["data"]
    composed = by_name("web").environment(**SECRETS)
    shared = ours.keys() - {"ARENA_HOSTS"}
    assert {name: ours[name] for name in shared} == {name: composed[name] for name in shared}
    assert composed.keys() - ours.keys() == {
        "DATABASE_URL", "DATABASE_OWNER_URL", "POSTGRES_PASSWORD", "REDIS_URL", "SECRET_KEY", "ARENA_ENCRYPTION_KEYS",
        "ARENA_LOCAL_MODEL_URL",
    }  # fmt: skip


def test_example_sets_what_pods_need():
    generated = {each["name"]: each for each in kustomization("example")["secretGenerator"]}
    keys = {
        name: {line.split("=")[0] for line in (FOLDER / "example" / each["envs"][0]).read_text().splitlines()}
        for name, each in generated.items()
    }
    assert keys["arena-site"] >= {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ARENA_ENCRYPTION_KEYS"}
    assert keys["arena-owner"] == {"DATABASE_URL"}
    for name, pod in pods().items():
        for container in containers(pod):
            sources = [next(iter(source.values()))["name"] for source in container["envFrom"]]
            owner = ["arena-owner"] if name == "prepare" else []
            assert sources == ["arena-settings", "arena-site", *owner]


@pytest.mark.parametrize(
    "name", ["web", "worker-answers", "worker-benchmarks", "worker-default", "sweeper", "beat", "prepare"]
)
def test_pods_are_confined(name: str):
    pod = pods()[name]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001  # of the Dockerfile
    assert pod["automountServiceAccountToken"] is False
    for container in containers(pods()[name]):
        assert container["image"] == "arena"
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


@pytest.mark.parametrize("name", ["web", "worker-answers", "worker-benchmarks", "worker-default", "sweeper", "beat"])
def test_running_pods_wait_for_migrations_and_are_probed(name: str):
    (container,) = pods()[name]["spec"]["containers"]
    (waiting,) = pods()[name]["spec"]["initContainers"]
    assert "manage.py migrate --check" in waiting["command"][-1]
    assert {"startupProbe", "livenessProbe"} <= set(container)
    heartbeat = of_kind("ConfigMap")["arena-settings"]["data"]["ARENA_HEARTBEAT_FILE"]
    if name == "web":
        headers = {header["name"]: header["value"] for header in container["livenessProbe"]["httpGet"]["httpHeaders"]}
        hosts = of_kind("ConfigMap")["arena-settings"]["data"]["ARENA_HOSTS"].split(",")
        assert headers == {"Host": hosts[1], "X-Forwarded-Proto": "https"}
    else:
        assert heartbeat in container["livenessProbe"]["exec"]["command"][-1]


def test_service_and_ingress_lead_to_web_pods():
    service = of_kind("Service")["web"]["spec"]
    labels = pods()["web"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()
    (container,) = pods()["web"]["spec"]["containers"]
    assert service["ports"][0]["targetPort"] == container["ports"][0]["name"]
    (rule,) = of_kind("Ingress", "example")["arena"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"] == {
        "name": "web",
        "port": {"name": service["ports"][0]["name"]},
    }


def test_ingress_leads_metrics_to_no_pod():
    (rule,) = of_kind("Ingress", "example")["arena"]["spec"]["rules"]
    backends = {path["path"]: path["backend"]["service"]["name"] for path in rule["http"]["paths"]}
    assert "selector" not in of_kind("Service", "example")[backends["/metrics"]]["spec"]
    assert "ARENA_METRICS_NETWORKS" not in of_kind("ConfigMap")["arena-settings"]["data"]
    assert "ARENA_METRICS_TOKEN=\n" in (FOLDER / "example" / "site.env").read_text()
