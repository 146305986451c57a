"""Recover abandoned uploads. Works without the broker."""

import logging
from datetime import timedelta

from common.sweeping import Step, Sweep
from uploads.models import Upload, UploadQuerySet
from uploads.reading.findings import Reason
from uploads.tasks import wake

logger = logging.getLogger(__name__)

# An upload is woken again after this long in the queue: its message may be lost, or the workers are busy.
WAKE_AGAIN_AFTER = timedelta(seconds=10)
MAX_PER_ROUND = 100


def _fail_exhausted() -> None:
    failed = Upload.objects.out_of_attempts().fail(Reason.INTERRUPTED)
    if failed:
        logger.warning("the leases of %s uploads expired in their last attempt", failed)


def _queued() -> UploadQuerySet:
    return Upload.objects.queued_longer_than(WAKE_AGAIN_AFTER)


def _wake_queued() -> None:
    for pk in list(_queued().order_by("queued_at").values_list("pk", flat=True)[:MAX_PER_ROUND]):
        if Upload.objects.mark_woken(pk, WAKE_AGAIN_AFTER):
            wake(pk)


sweep = Sweep(Step(Upload.objects.out_of_attempts, _fail_exhausted), Step(_queued, _wake_queued))
