from datetime import timedelta

from celery import shared_task
from django.db.models.functions import Now

from accounts import outgoing_email
from accounts.models import IdempotencyKey


@shared_task(ignore_result=True)
def forget_old_idempotency_keys() -> None:
    IdempotencyKey.objects.filter(created_at__lt=Now() - timedelta(hours=24)).delete()


@shared_task(ignore_result=True)
def send_email(email_id: int) -> None:
    outgoing_email.send(email_id)


@shared_task(ignore_result=True)
def send_due_emails() -> None:
    outgoing_email.send_due()
