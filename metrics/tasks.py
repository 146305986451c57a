from celery import shared_task

from metrics.rollup import job


@shared_task(ignore_result=True)
def roll_up_today() -> None:
    job.roll_up_today()


@shared_task(ignore_result=True)
def roll_up_night() -> None:
    job.roll_up_night()
