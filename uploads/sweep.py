"""Recover abandoned uploads. Works without the broker."""

import logging
from datetime import timedelta

from uploads.models import Upload
from uploads.reading.findings import Reason
from uploads.tasks import wake

logger = logging.getLogger(__name__)

# After this long in the queue an upload is woken again: its message may be lost, or the workers are busy.
WAKE_AGAIN_AFTER = timedelta(seconds=10)
MAX_PER_ROUND = 100


def sweep() -> None:
    """Do one round."""
    exhausted = Upload.objects.out_of_attempts()
    failed = exhausted.update(state=Upload.State.FAILED, error=Reason.INTERRUPTED, lease_until=None)
    if failed:
        logger.warning("the leases of %s uploads expired in their last attempt", failed)
    queued = Upload.objects.queued_longer_than(WAKE_AGAIN_AFTER).order_by("queued_at")
    for pk in list(queued.values_list("pk", flat=True)[:MAX_PER_ROUND]):
        if Upload.objects.mark_woken(pk, WAKE_AGAIN_AFTER):
            wake(pk)
