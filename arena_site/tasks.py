from celery import shared_task

from arena_site import retention
from arena_site.operations.activity import read_activity
from arena_site.teams.spending import tell_owners


@shared_task(ignore_result=True)
def purge() -> None:
    retention.purge()


@shared_task(ignore_result=True)
def count_activity() -> None:
    """Leave few rows to the dashboard."""
    read_activity()


@shared_task(ignore_result=True)
def tell_owners_of_spending() -> None:
    tell_owners()
