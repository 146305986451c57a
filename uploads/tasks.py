"""Celery tasks: a message carries an id and may arrive twice or never."""

import logging

from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError

from common.valkey.connections import UNREACHABLE, fail_fast
from uploads import extraction
from uploads.files import cleanup

logger = logging.getLogger(__name__)


@shared_task(ignore_result=True)
def read_upload(upload_id: int) -> None:
    extraction.read_upload(upload_id)


@shared_task(ignore_result=True)
def tidy_up() -> None:
    cleanup.delete_expired()


def wake(upload_id: int) -> None:
    """Queue the upload's task; without a broker, the sweeper does."""
    try:
        with fail_fast():
            read_upload.delay(upload_id)
    except (OperationalError, *UNREACHABLE) as error:
        logger.warning("upload %s was not sent to a worker: %s", upload_id, error)


def wake_after_commit(upload_id: int) -> None:
    transaction.on_commit(lambda: wake(upload_id))
