from datetime import UTC

from django.core.management.base import BaseCommand

from leaderboard.counting import schedule
from routing.management.head_lines import head_lines
from routing.training import job


class Command(BaseCommand):
    help = "Train auto mode on the counted votes now. It is trained once a day without this command."

    def handle(self, *args: object, **options: object) -> None:
        snapshot = job.train_router(slot=f"by hand {schedule.database_now().astimezone(UTC).isoformat()}")
        if snapshot is None:
            self.stdout.write("Another training is active.")
            return
        self.stdout.write(f"{snapshot.public_id}: {snapshot.get_state_display()}. {snapshot.message}".strip())
        for line in head_lines(snapshot.heads):
            self.stdout.write(line)
        self.stdout.write(f"{snapshot.votes:,} votes, {snapshot.seconds:.1f} s.")
