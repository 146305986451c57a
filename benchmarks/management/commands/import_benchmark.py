"""`manage.py import_benchmark FILE --owner e-mail`: make a template of a file, or only preview it."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from accounts.models import User
from benchmarks.actions.answer_runs import create_run_of_answers
from benchmarks.actions.importing import ImportPreview, create_draft, read_import
from benchmarks.imports.content import Request
from common.errors import ArenaError
from common.text.encodings import CODECS


class Command(BaseCommand):
    help = "Import a file of cases as a draft of a new template, all of it or nothing, and print the template's id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--owner", required=True, help="e-mail address")
        parser.add_argument("--format", default="", help="of docs/benchmarks-import.md; found out without it")
        parser.add_argument("--sheet", default="", help="of a workbook")
        parser.add_argument("--encoding", default="", choices=CODECS, help="of texts that are not in Unicode")
        parser.add_argument("--column", action="append", default=[], metavar="NAME=ROLE", help="may be repeated")
        parser.add_argument(
            "--answers", action="store_true", help="score the file's answers as a run, print its id too"
        )
        parser.add_argument("--preview", action="store_true", help="print the report and store nothing")

    def handle(
        self, *args: object, file: Path, owner: str, format: str, sheet: str, encoding: str, column: list[str],
        preview: bool, answers: bool, **options: object,
    ) -> None:  # fmt: skip
        member = User.objects.filter(email=owner.lower()).first()
        if member is None:
            raise CommandError("There is no such member.")
        try:
            content = file.read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        mapping = dict(pair.rpartition("=")[::2] for pair in column)
        imported = read_import(content, Request(file.name, format, mapping, sheet, encoding=encoding))
        for line in ImportPreview("", imported).lines:
            place = ":".join(str(part) for part in (line["file"], line["line"], line["column"]) if part)
            self.stderr.write(f"{line['action']} {place} {line['sentence']}".replace("  ", " "))
        if imported.is_refused:
            raise CommandError("The file was refused: nothing is stored.")
        if preview:
            return
        try:
            with transaction.atomic():
                draft = create_draft(owner=member, imported=imported)
                self.stdout.write(draft.template.public_id)
                if answers and imported.replies:
                    run = create_run_of_answers(owner=member, version=draft, replies=imported.replies, name=file.stem)
                    self.stdout.write(run.public_id)
        except ArenaError as error:
            raise CommandError(error.detail) from error
