from django.core.management.base import BaseCommand

from leaderboard.counting import tallies


class Command(BaseCommand):
    help = "Count every processed vote again; in a sound database there is nothing to change."

    def handle(self, *args: object, **options: object) -> None:
        wrong = tallies.rebuild()
        if wrong:
            self.stdout.write(f"{wrong} tallies were wrong and are right now. The next snapshot will show it.")
        else:
            self.stdout.write("Nothing to change: the tallies agree with the log.")
