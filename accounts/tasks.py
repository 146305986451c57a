"""Housekeeping of accounts."""

from datetime import timedelta

from celery import shared_task
from django.db.models.functions import Now

from accounts.models import IdempotencyKey


@shared_task(ignore_result=True)
def forget_old_idempotency_keys() -> None:
    IdempotencyKey.objects.filter(created_at__lt=Now() - timedelta(hours=24)).delete()
