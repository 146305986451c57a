import hashlib
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import audit
from accounts.models import AuditEntry
from models_registry.config.models_file import import_models
from models_registry.config.yaml_lines import ConfigRefused, read_text

ACTION = "import models"


class Command(BaseCommand):
    help = "Import language models from a YAML file; safe to repeat, all or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, default=settings.ARENA_MODELS_FILE)
        parser.add_argument(
            "--if-changed",
            action="store_true",
            help="Do nothing when this very text was imported last, so that what was changed in the admin stays.",
        )

    def handle(self, *args: object, file: Path, if_changed: bool, **options: object) -> None:
        try:
            text = read_text(file)
            digest = hashlib.sha256(text.encode()).hexdigest()
            if if_changed and digest == _last_imported(file):
                self.stdout.write(f"{file.name} is as it was when it was imported last.")
                return
            changes = import_models(text)
        except ConfigRefused as error:
            lines = [f"{file}:{problem.line}: {problem.sentence}" for problem in error.problems]
            raise CommandError("\n".join([*lines, "Nothing was imported."])) from error
        if changes or digest != _last_imported(file):
            audit.record(None, ACTION, file.name, sha256=digest, changes=changes)
        for change in changes or ["nothing to change"]:
            self.stdout.write(f"{file.name}: {change}")


def _last_imported(file: Path) -> str:
    """Return the SHA-256 last imported from a file of this name, or ""."""
    entry = AuditEntry.objects.filter(action=ACTION, subject=file.name).first()
    return str(entry.details.get("sha256", "")) if entry else ""
