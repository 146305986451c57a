from datetime import date, timedelta

from django.core.management.base import BaseCommand, CommandError, CommandParser

from metrics.rollup import job
from metrics.rollup.families import ALL, Family, Reveal
from metrics.rollup.writing import Difference, roll_up
from models_registry.models.ledger import today


class Command(BaseCommand):
    help = (
        "Count the figures of past days anew, and name the days on which something differed. Figures that would shrink "
        "because sessions or decisions were deleted since are left alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from", dest="first", type=_day, help="the first day; default: that of the first battle")
        parser.add_argument("--to", dest="last", type=_day, help="the last day; default: yesterday")
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        parser.add_argument("--losses", action="store_true", help="name the figures that are left alone, too")

    def handle(
        self, *args: object, first: date | None, last: date | None, dry_run: bool, losses: bool, **options: object
    ) -> None:
        first, last = first or job.first_day(), last or today() - timedelta(days=1)
        if first is None or first > last:
            raise CommandError("There is no day to count.")
        reveal, done, differing = Reveal.now(), set(), 0
        for day in (first + timedelta(days=n) for n in range((last - first).days + 1)):
            for family in ALL:
                period = family.name, family.window(day)
                if period not in done:
                    done.add(period)
                    difference = roll_up(family, day, reveal, only_compare=dry_run)
                    differing += bool(difference)
                    self._report(family, day, difference, losses=losses)
        self.stdout.write("Nothing differed." if not differing else f"{differing} parts of days differed.")

    def _report(self, family: Family, day: date, difference: Difference, *, losses: bool) -> None:
        if difference:
            number = len(difference.changed) + len(difference.gone)
            self.stdout.write(f"{family.window(day).day} {family.name}: {number} figures differ.")
        if difference.kept:
            self.stdout.write(f"{family.window(day).day} {family.name}: {len(difference.kept)} are left alone.")
        for key in difference.kept if losses else ():
            figure, name = difference.counted.get(key), " ".join(str(part) for part in key if part)
            self.stdout.write(f"  {name}: would become {figure.n if figure else 0}")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{text} is no day such as 2026-11-30.") from None
