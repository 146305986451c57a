"""Packages that would take time and megabytes in each process, although few processes use them."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes
WEB = "import arena_site.asgi; from django.urls import get_resolver; get_resolver().url_patterns"
WORKER = "from arena_site.celery import app; app.loader.import_default_modules()"
# redis imports opentelemetry's metrics wherever they are installed.
TRACES = {"opentelemetry.sdk.trace", "opentelemetry.exporter"}
LOADED = "import sys; print(*sorted({!r} & set(sys.modules)))"


@pytest.mark.parametrize(
    ("program", "packages"),
    [
        (
            WEB,
            {
                "plotly", "fontTools", "ziamath", "scipy", "openai", "ecologits", "drf_spectacular.openapi",
                "drf_spectacular_sidecar", *TRACES,
            },
        ),
        (WORKER, {"plotly", "scipy", "openai", "leaderboard.views", "ecologits", *TRACES}),
    ],
    ids=["web", "worker"],
)  # fmt: skip
def test_process_imports_no_rarely_used_package(program: str, packages: set[str]):
    environment = {"DJANGO_SETTINGS_MODULE": "arena_site.settings.test", "PATH": ""}
    command = [sys.executable, "-c", f"{program}; {LOADED.format(packages)}"]
    loaded = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    assert loaded.stdout.split() == []
