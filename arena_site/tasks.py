from celery import shared_task

from arena_site import retention


@shared_task(ignore_result=True)
def purge() -> None:
    retention.purge()
