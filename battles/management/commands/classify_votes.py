"""Label votes again after the rules have changed."""

from django.core.management.base import BaseCommand, CommandParser

from battles.labels.relabel import reclassify


class Command(BaseCommand):
    help = "Label votes again whose labels are from other rules than today's; boards follow with their next snapshot."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--all", action="store_true", help="label every vote, also those of today's rules")

    def handle(self, *args: object, **options: object) -> None:
        changed = reclassify(everything=bool(options["all"]), progress=self._say)
        self.stdout.write(f"{changed} votes moved to other boards.")

    def _say(self, done: int, of: int) -> None:
        self.stdout.write(f"{done} of {of} votes labelled")
