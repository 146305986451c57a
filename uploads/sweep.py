"""Finds uploads that nobody reads. Needs PostgreSQL only; the broker may be away."""

import logging
from datetime import timedelta

from uploads.models import Upload
from uploads.reading.findings import Reason
from uploads.tasks import wake

logger = logging.getLogger(__name__)

# An upload is woken again after this long: its message may be lost, or the workers are busy.
PATIENCE = timedelta(seconds=10)
MOST_AT_ONCE = 100


def sweep() -> None:
    """One round: uploads whose reader is gone are read again, or given up."""
    given_up = Upload.objects.given_up().update(state=Upload.State.FAILED, error=Reason.INTERRUPTED, lease_until=None)
    if given_up:
        logger.warning("%s uploads lost their reader for the last time", given_up)
    for pk in list(Upload.objects.unwoken(PATIENCE).order_by("queued_at").values_list("pk", flat=True)[:MOST_AT_ONCE]):
        if Upload.objects.wake_again(pk, PATIENCE):
            wake(pk)
