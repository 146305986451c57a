"""Wake-up calls for what is computed in a worker; each may arrive twice."""

from celery import shared_task


@shared_task(ignore_result=True)
def aggregate_votes(slot: str = "") -> None:
    """Without a slot: the periodic run, if it is due."""
    from leaderboard.aggregation import job  # brings scipy, which no other process needs

    if slot:
        job.aggregate(slot=slot)
    else:
        job.aggregate_if_due()


@shared_task(ignore_result=True)
def look_for_anomalies() -> None:
    from leaderboard.aggregation import anomalies

    anomalies.find_anomalies()
