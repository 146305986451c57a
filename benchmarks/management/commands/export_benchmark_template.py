"""`manage.py export_benchmark_template TEMPLATE FILE`: write a template as YAML."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.exports.promptfoo import PromptfooExport
from benchmarks.exports.template_yaml import template_chunks
from benchmarks.models import TemplateVersion
from common.output_files import complete_file


class Command(BaseCommand):
    help = "Write a benchmark template as YAML, which import_benchmark restores."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("template", help="its public id")
        parser.add_argument("file", type=Path)
        parser.add_argument("--number", type=int, help="of a version; without it, the newest")
        parser.add_argument("--promptfoo", action="store_true", help="write promptfoo's configuration")

    def handle(
        self, *args: object, template: str, file: Path, number: int | None, promptfoo: bool, **options: object
    ) -> None:
        versions = TemplateVersion.objects.filter(template__public_id=template).select_related("template")
        version = (versions.filter(number=number) if number else versions).order_by("-number").first()
        if version is None:
            raise CommandError("There is no such template or version.")
        with complete_file(file) as out:
            out.writelines(PromptfooExport(version).chunks() if promptfoo else template_chunks(version))
        self.stderr.write(f"{file}: {version.case_count:,} cases.")
