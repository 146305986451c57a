import gc

from django.core.management.base import BaseCommand, CommandError

from leaderboard.aggregation import job
from leaderboard.counting import schedule


class Command(BaseCommand):
    help = "Count the pending votes and publish a snapshot, without waiting for the schedule."

    def handle(self, *args: object, **options: object) -> None:
        gc.freeze()  # garbage collections during the run would look at every imported object
        run = job.aggregate(slot=schedule.new_slot())
        if run is None:
            raise CommandError("Another run is under way. Try again in a moment.")
        excluded = sum(run.votes_excluded.values())
        self.stdout.write(
            f"Snapshot {run.public_id}: {run.votes_taken} new votes, {run.votes_counted} counted, "
            f"{excluded} excluded, {run.standings.count()} models, {run.duration_ms} ms."
        )
