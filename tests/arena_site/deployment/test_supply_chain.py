import re
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

ROOT: Path = settings.BASE_DIR
WORKFLOW = ROOT / ".github/workflows/supply-chain.yml"


def test_weekly_workflow_runs_audit_and_sbom():
    workflow: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    assert workflow[True]["schedule"] == [{"cron": "17 4 * * 1"}]
    commands = [step.get("run") for step in workflow["jobs"]["packages"]["steps"]]
    assert {"make audit", "make sbom"} <= set(commands)
    assert workflow["permissions"] == {"contents": "read"}


def test_every_list_of_packages_is_audited():
    """The audit's own tools are excepted."""
    makefile = (ROOT / "Makefile").read_text()
    (run_lists,) = re.findall(r"^RUN_LISTS := (.*)$", makefile, re.MULTILINE)
    audit = " ".join(re.findall(r"^\t@.venv-audit/bin/pip-audit (.*)$", makefile, re.MULTILINE))
    lists = {str(path.relative_to(ROOT)) for path in (ROOT / "requirements").glob("*.txt")}
    assert {*run_lists.split(), *re.findall(r"requirements/[a-z0-9-]+\.txt", audit)} == lists - {
        "requirements/supply-chain.txt"
    }
