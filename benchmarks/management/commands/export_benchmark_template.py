"""`manage.py export_benchmark_template TEMPLATE FILE`: write a template as promptfoo's configuration."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.models import TemplateVersion
from common.output_files import complete_file


class Command(BaseCommand):
    help = "Write a benchmark template as promptfoo's configuration in YAML; import_benchmark restores it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("template", help="its public id")
        parser.add_argument("file", type=Path)
        parser.add_argument("--number", type=int, help="of a version; without it, the newest")

    def handle(self, *args: object, template: str, file: Path, number: int | None, **options: object) -> None:
        versions = TemplateVersion.objects.filter(template__public_id=template).select_related("template")
        found = (versions.filter(number=number) if number else versions).order_by("-number").first()
        if found is None:
            raise CommandError("There is no such template or version.")
        with complete_file(file) as out:
            out.writelines(PromptfooExport(found).chunks())
        self.stderr.write(f"{file}: {found.case_count:,} cases.")
