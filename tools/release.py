"""`make release`: keep migrations and a backup of the version that CHANGELOG.md dates, for the tests of updates."""

import json
import re
import sys
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings

DATED = re.compile(r"^## (\d+\.\d+\.\d+), \d{4}-\d{2}-\d{2}$", re.MULTILINE)
FILE = "tests/arena_site/deployment/released_migrations.json"
BACKUPS = "tests/data/releases"


def newest_release(changelog: str) -> str | None:
    match = DATED.search(changelog)
    return match[1] if match else None


def newest_migrations() -> dict[str, str]:
    from django.db.migrations.loader import MigrationLoader

    leaves = dict(MigrationLoader(None).graph.leaf_nodes())
    own = {config.label for config in apps.get_app_configs() if config.path == str(settings.BASE_DIR / config.label)}
    return {app: name for app, name in sorted(leaves.items()) if app in own}


def write_backup(file: Path) -> None:
    """Back up an arena with counted votes."""
    from tools.service_versions import counted_battles

    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    with counted_battles({}) as arena:
        done = arena.run(sys.executable, "manage.py", "backup", str(file))
        assert done.returncode == 0, done.stderr


def main() -> int:
    django.setup()
    version = newest_release((settings.BASE_DIR / "CHANGELOG.md").read_text())
    if version is None:
        sys.stderr.write(
            "CHANGELOG.md has no dated section: write the date of this release in place of “unreleased”.\n"
        )
        return 1
    content = {"version": version, "migrations": newest_migrations()}
    (settings.BASE_DIR / FILE).write_text(json.dumps(content, indent=2) + "\n")
    write_backup(settings.BASE_DIR / BACKUPS / f"{version}.zip")
    return 0


if __name__ == "__main__":
    sys.exit(main())
