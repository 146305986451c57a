import logging
import secrets
import tempfile
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from battles.models import Vote
from leaderboard.counting import schedule
from leaderboard.models import DataPolicy, DataRelease, ReleasedText, ReleaseFile
from leaderboard.releases.files import CONVERSATION_FILES, released_orders, write_files

logger = logging.getLogger(__name__)

# Two folders deep: the clean-up of uploads looks at files one folder deep only.
FOLDER = "releases"
# Writing ten million votes takes less.
LEASE = timedelta(hours=2)


def publish_due() -> None:
    """Write and publish the releases whose embargo is over, the oldest first; delete the texts they replace."""
    for pk in DataRelease.objects.unpublished().values_list("pk", flat=True):
        if lease_until := _claim(pk):
            _publish(DataRelease.objects.select_related("run").get(pk=pk), lease_until)
    _delete_removed_files()


def _claim(pk: int) -> datetime | None:
    """Return the end of the lease, or None if the embargo is not over or another worker writes the files."""
    now = schedule.database_now()
    is_free = Q(lease_until=None) | Q(lease_until__lt=now)
    due = DataRelease.objects.unpublished().filter(is_free, pk=pk, embargo_until__lte=now)
    until = now + LEASE
    return until if due.update(state=DataRelease.State.WRITING, lease_until=until) else None


def _publish(release: DataRelease, lease_until: datetime) -> None:
    policy = DataPolicy.current()
    release.licence, release.licence_url = policy.licence, policy.licence_url
    claimed = DataRelease.objects.filter(pk=release.pk, lease_until=lease_until)
    stored: list[ReleaseFile] = []
    is_published = False
    try:
        with tempfile.TemporaryDirectory() as folder:
            _store_files(release, Path(folder), stored)
            orders = released_orders(Path(folder), release)
        is_published = _finish(release, lease_until, stored, orders)
    except Exception:
        logger.exception("the release %s was not written", release)
        claimed.update(state=DataRelease.State.PLANNED, lease_until=None)
    finally:
        if not is_published:
            _delete(stored)


def _store_files(release: DataRelease, folder: Path, stored: list[ReleaseFile]) -> None:
    """Append each file to `stored` as soon as the storage may have a part of it."""
    place = f"{FOLDER}/{release}-{secrets.token_hex(8)}"
    for written in write_files(release, folder):
        name = written.path.name
        row = ReleaseFile(
            release=release, name=name, stored_as=f"{place}/{name}",
            size=written.size, sha256=written.sha256, rows=written.rows,
        )  # fmt: skip
        stored.append(row)
        with written.path.open("rb") as file:
            row.stored_as = default_storage.save(row.stored_as, File(file))


@transaction.atomic
def _finish(release: DataRelease, lease_until: datetime, stored: list[ReleaseFile], orders: list[int]) -> bool:
    """Publish the files, store which votes' texts they have, remove earlier texts; False if the lease is lost."""
    now = schedule.database_now()
    published = DataRelease.objects.filter(pk=release.pk, lease_until=lease_until).update(
        state=DataRelease.State.PUBLISHED,
        lease_until=None,
        published_at=now,
        licence=release.licence,
        licence_url=release.licence_url,
    )
    if not published:
        return False
    ReleaseFile.objects.bulk_create(stored)
    votes = Vote.objects.numbered(orders).values_list("pk", flat=True)
    ReleasedText.objects.bulk_create(
        [ReleasedText(vote_id=vote, release=release) for vote in votes], ignore_conflicts=True, batch_size=5_000
    )
    earlier = ReleaseFile.objects.filter(name__startswith=CONVERSATION_FILES, removed_at=None)
    earlier.exclude(release=release).update(removed_at=now)
    return True


def _delete_removed_files() -> None:
    for file in ReleaseFile.objects.exclude(removed_at=None).exclude(stored_as=""):
        try:
            default_storage.delete(file.stored_as)
        except Exception:  # each storage backend raises its own exceptions; the next run tries again
            logger.exception("%s of the release %s was not deleted", file.name, file.release_id)
        else:
            ReleaseFile.objects.filter(pk=file.pk).update(stored_as="")


def _delete(files: list[ReleaseFile]) -> None:
    for file in files:
        with suppress(Exception):  # a full disk; no row refers to the file
            default_storage.delete(file.stored_as)
