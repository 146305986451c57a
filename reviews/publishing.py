"""The board of a review: fitted when it closes, and every minute while its results are shown."""

import logging
from functools import partial

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from reviews.models import Review, ReviewBattle

logger = logging.getLogger(__name__)


def publish_after_commit(review: Review) -> None:
    transaction.on_commit(partial(publish, review))


def publish(review: Review) -> None:
    """Fit the votes and publish the board. An error is logged; the next round tries again."""
    try:
        from leaderboard.aggregation.review_boards import publish_series  # imports scipy, which few processes need

        publish_series(review.public_id, team=review.team)
    except Exception:
        logger.exception("the board of review %s cannot be published", review.public_id)
    else:
        Review.objects.filter(pk=review.pk).update(published_at=Now())


def unpublished() -> QuerySet[Review]:
    """Return reviews that show results and have votes that their board has not."""
    is_shown = Q(state=Review.State.OPEN, hides_results=False)
    is_first = Q(published_at=None)
    newer = ReviewBattle.objects.filter(review=OuterRef("pk"), ended_at__gt=OuterRef("published_at"))
    closed = Q(state=Review.State.CLOSED) & (is_first | Q(published_at__lt=F("ended_at")))
    with_board = Review.objects.filter(asks_for=Review.AsksFor.PAIRS)
    return with_board.filter(closed | is_shown & (is_first | Q(Exists(newer))))


def publish_missing() -> None:
    for review in unpublished().select_related("team").order_by("pk"):
        publish(review)
