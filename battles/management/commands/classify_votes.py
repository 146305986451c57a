from django.core.management.base import BaseCommand, CommandParser

from battles.labels.labelling import relabel_votes


class Command(BaseCommand):
    help = "Label votes again whose labels are from other rules than today's; boards follow with their next snapshot."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="label every vote, also those of today's rules")

    def handle(self, *args: object, **options: object) -> None:
        changed = relabel_votes(everything=bool(options["all"]), progress=self._print_progress)
        self.stdout.write(f"{changed} votes have new labels.")

    def _print_progress(self, done: int, total: int) -> None:
        self.stdout.write(f"{done} of {total} votes labelled")
