"""The arena of the last release answers after the update as before it; bodies gain only named fields.

tests/data/releases/<version>.answers.json.gz has the answers of the release's own code. To make it for another release,
copy this file and tests/worlds/released/ into a checkout of that release and run this test there with KEEP_ANSWERS=1.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.arena_site.databases import database_without_tables
from tests.arena_site.deployment.test_backup_and_restore import manage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
BACKUP = sorted((settings.BASE_DIR / "tests/data/releases").glob("*.zip"))[-1]
KEPT = BACKUP.with_suffix(".answers.json.gz")
# Fields of the API's contract that bodies gained since.
GAINED = {
    ".decision_reports", ".grades_in_reviews", ".joined_reviews", ".review_answers", ".reviews", ".results.categories",
    ".results.language", ".listed", ".share.listed", ".battles.share.listed", ".sessions.battles.share.listed",
}  # fmt: skip
# Those of models and of answers, which stand in many bodies.
GAINED_ANYWHERE = {"energy"}


def read_answers(tmp_path: Path) -> dict[str, Any]:
    with database_without_tables() as database:
        manage(database, tmp_path / "data", ("restore", str(BACKUP)), ("migrate", "--check"))
        environment = {"DATABASE_URL": database, "ARENA_DATA_DIR": str(tmp_path / "data")}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tests.worlds.released.answers"], cwd=settings.BASE_DIR,
            env=os.environ | environment | {"DJANGO_SETTINGS_MODULE": "arena_site.settings.test"}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()[-3000:]
    return json.loads(done.stdout)


def gained(before: Any, after: Any, path: str = "") -> set[str]:
    """Return the paths of fields that only `after` has; of other differences, the path and both values."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        new = {f"{path}.{name}" for name in after.keys() - before.keys()}
        return new.union(*(gained(before[name], after[name], f"{path}.{name}") for name in before))
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return set().union(*(gained(*pair, path) for pair in zip(before, after, strict=True)))
    return set() if before == after else {f"{path}: {before!r} is now {after!r}"[:300]}


def parsed(answer: list[Any]) -> Any:
    """Return the answer without figures of today: they are other ones on another day."""
    status, text = answer
    try:
        body = json.loads(text)
    except ValueError:
        return answer
    return [status, {name: body[name] for name in body if name != "today"} if isinstance(body, dict) else body]


def test_released_arena_answers_as_before(tmp_path: Path):
    after = read_answers(tmp_path)
    if "KEEP_ANSWERS" in os.environ:
        KEPT.write_bytes(gzip.compress(json.dumps(after, sort_keys=True).encode(), mtime=0))
    before = json.loads(gzip.decompress(KEPT.read_bytes()))

    assert set(before["addresses"]) <= set(after["addresses"])
    assert before["snapshots"] == after["snapshots"]
    differences = {}
    for asked, answer in before["answers"].items():
        found = gained(parsed(answer), parsed(after["answers"][asked])) - GAINED
        if found := {path for path in found if path.rpartition(".")[2] not in GAINED_ANYWHERE}:
            differences[asked] = found
    assert differences == {}
    assert sum(status == 200 for status, _ in before["answers"].values()) > 250
