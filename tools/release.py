"""`make release`: write the newest migrations of the version that CHANGELOG.md dates, for the tests of updates."""

import json
import re
import sys

import django
from django.apps import apps
from django.conf import settings

DATED = re.compile(r"^## (\d+\.\d+\.\d+), \d{4}-\d{2}-\d{2}$", re.MULTILINE)
FILE = "tests/arena_site/deployment/released_migrations.json"


def newest_release(changelog: str) -> str | None:
    match = DATED.search(changelog)
    return match[1] if match else None


def newest_migrations() -> dict[str, str]:
    from django.db.migrations.loader import MigrationLoader

    leaves = dict(MigrationLoader(None).graph.leaf_nodes())
    own = {config.label for config in apps.get_app_configs() if config.path == str(settings.BASE_DIR / config.label)}
    return {app: name for app, name in sorted(leaves.items()) if app in own}


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
    return 0


if __name__ == "__main__":
    sys.exit(main())
