import json
import re
import subprocess
import sys

import pytest
from django.conf import settings

from accounts.models import Scope
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_benchmark_script_runs_template_and_prints_scores(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url, slug="ada")
    template = factory.version(4).template
    token = make.token(template.owner_user, scopes=[Scope.READ, Scope.BENCHMARK])
    script = settings.BASE_DIR / "examples" / "run_benchmark.py"

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command, environment = [sys.executable, script, site, *arguments], {"ARENA_TOKEN": token}
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    refused = run("Words", "eve")
    assert refused.returncode == 1
    assert json.loads(refused.stderr)["code"] == "run_not_possible"
    assert "ARENA_TOKEN" in run("Words").stderr
    done = run("Words", "ada")
    assert re.fullmatch(r"Model \d+: 100% \(\d+% to 100%\)\n", done.stdout), done.stderr
    assert '"state": "done"' in done.stderr or '"state":"done"' in done.stderr
    assert "No such template" in run("Nothing", "ada").stderr
    assert len(script.read_text().splitlines()) <= 30
