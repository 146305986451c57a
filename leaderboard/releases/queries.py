from django.conf import settings
from django.urls import reverse

from common.errors import NotFound
from leaderboard.models import DataRelease, ReleaseFile
from leaderboard.payload_types import ReleaseFilePayload, ReleasePayload
from leaderboard.releases.files import CONVERSATION_FILES


def release_payload(release: DataRelease) -> ReleasePayload:
    """Return a published release; its files must be prefetched, its run joined."""
    return {
        "date": str(release),
        "published_at": release.published_at,
        "snapshot": release.run.public_id,
        "last_vote": release.run.shown_order,
        "licence": release.licence,
        "licence_url": release.licence_url,
        "files": [_file_payload(release, file) for file in release.files.all() if _is_published(file)],
    }


def _file_payload(release: DataRelease, file: ReleaseFile) -> ReleaseFilePayload:
    url = reverse("api-release-file", args=[str(release), file.name])
    return {
        "name": file.name,
        "bytes": file.size,
        "sha256": file.sha256,
        "rows": file.rows,
        "url": None if file.removed_at else url,
    }


def find_file(day: str, name: str) -> ReleaseFile:
    """Raises NotFound, also for a file that was removed or is not published any more."""
    published = DataRelease.State.PUBLISHED
    files = ReleaseFile.objects.filter(release__state=published, name=name, removed_at=None).select_related("release")
    file = next((file for file in files if str(file.release) == day), None)
    if file is None or not _is_published(file):
        raise NotFound
    return file


def _is_published(file: ReleaseFile) -> bool:
    return settings.ARENA_PUBLISH_PROMPTS or not file.name.startswith(CONVERSATION_FILES)
