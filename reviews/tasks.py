from celery import shared_task

from reviews.publishing import publish_missing


@shared_task(ignore_result=True)
def publish_boards() -> None:
    publish_missing()
