"""Celery tasks; each may run twice."""

from celery import shared_task


@shared_task(ignore_result=True)
def aggregate_votes(slot: str = "") -> None:
    """Run a requested slot, or without one the periodic run if it is due."""
    from leaderboard.aggregation import job  # imports scipy, which other processes do not need

    if slot:
        job.aggregate(slot=slot)
    else:
        job.aggregate_if_due()


@shared_task(ignore_result=True)
def release_data() -> None:
    """Plan a release if the schedule says so; publish those whose embargo is over."""
    from leaderboard.releases import planning, publishing

    planning.plan_if_due()
    publishing.publish_due()


@shared_task(ignore_result=True)
def publish_team_boards(team: str) -> None:
    from leaderboard.aggregation import team_boards

    team_boards.publish([int(team)])


@shared_task(ignore_result=True)
def look_for_anomalies() -> None:
    from leaderboard.aggregation import anomalies

    anomalies.find_anomalies()
    anomalies.find_anomalies_of_teams()
