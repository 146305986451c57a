"""Celery tasks; each may run twice."""

from celery import shared_task


@shared_task(ignore_result=True)
def train_router() -> None:
    from routing.training import job  # imports scipy, which other processes do not need

    job.train_if_due()
    job.train_teams_if_due()
