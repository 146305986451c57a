import subprocess
import sys

import pytest
from django.conf import settings

from accounts.models import ApiToken, Scope
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_benchmark_script_runs_template_and_prints_scores(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url, slug="ada")
    template = factory.version(4).template
    _, token = ApiToken.issue(user=template.owner_user, name="run", scopes=[Scope.READ, Scope.BENCHMARK])
    script = settings.BASE_DIR / "examples" / "run_benchmark.py"

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, script, site, token, *arguments], capture_output=True, text=True)

    refused = run("Words", "eve")
    assert (refused.returncode, refused.stderr) == (1, "run_not_possible: There is no model “eve”.\n")
    done = run("Words", "ada")
    assert done.stdout == "ada: 100% of 4\n", done.stderr
    assert done.stderr.splitlines()[-1].startswith("done ")
