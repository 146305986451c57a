from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction

from leaderboard.counting import schedule, stars
from leaderboard.errors import EmbargoInThePast, NothingToRelease, ReleaseExists
from leaderboard.models import OVERALL, AggregationRun, DataPolicy, DataRelease


def plan_release(*, embargo_until: datetime | None = None) -> DataRelease:
    """Store a release of today (UTC) with the votes of Overall's newest snapshot.

    embargo_until: None for no embargo. Raises EmbargoInThePast, NothingToRelease and ReleaseExists.
    """
    now = schedule.database_now()
    if embargo_until is not None and embargo_until < now:
        raise EmbargoInThePast
    run = AggregationRun.objects.snapshots(OVERALL).first()
    if run is None:
        raise NothingToRelease
    try:
        with transaction.atomic():
            return DataRelease.objects.create(
                day=now.date(),
                run=run,
                last_star=stars.last_star(),
                planned_at=now,
                embargo_until=embargo_until or now,
            )
    except IntegrityError as error:
        raise ReleaseExists from error


def plan_if_due() -> None:
    """Plan a release when the policy's number of days has passed since the last one."""
    policy = DataPolicy.current()
    due_at = next_day(policy)
    if due_at is None or due_at > schedule.database_now():
        return
    embargo = timedelta(days=policy.embargo_days)
    try:
        plan_release(embargo_until=schedule.database_now() + embargo if embargo else None)
    except (NothingToRelease, ReleaseExists):  # before the first snapshot; another worker was first
        return


def next_day(policy: DataPolicy) -> datetime | None:
    """Return when the next release is planned, a midnight in UTC; None without a schedule."""
    if not policy.release_every_days:
        return None
    last = DataRelease.objects.order_by("-day").values_list("day", flat=True).first()
    day = schedule.database_now().date() if last is None else last + timedelta(days=policy.release_every_days)
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
