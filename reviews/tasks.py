from celery import shared_task

from reviews.actions.lifecycle import close_all_complete
from reviews.publishing import publish_missing


@shared_task(ignore_result=True)
def publish_boards() -> None:
    close_all_complete()
    publish_missing()
