from django.core.management.base import BaseCommand

from models_registry.config.models_file import export_models


class Command(BaseCommand):
    help = "Write every model's newest version as YAML that import_models reads. Stored keys are not in it."

    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write(export_models(), ending="")
