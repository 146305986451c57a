"""API views of data releases."""

from collections.abc import Iterator
from typing import cast

from django.core.files.storage import default_storage
from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Scope
from common.api_responses import PayloadResponse, paginated
from common.db.replica import reads_replica
from common.errors import NotFound
from common.payload_types import Page
from common.tables.writers import CONTENT_TYPES
from leaderboard.exports.access import export_scope, require_exports
from leaderboard.exports.api import stream_chunks
from leaderboard.models import DataRelease
from leaderboard.payload_types import ReleasePayload
from leaderboard.releases.queries import find_file, release_payload

_CHUNK_BYTES = 1 << 18


class _ExportView(APIView):
    @property
    def scopes(self) -> dict[str, Scope]:
        return {"GET": export_scope()}


class ReleaseList(_ExportView):
    @reads_replica
    def get(self, request: Request) -> PayloadResponse[Page[ReleasePayload]]:
        require_exports(cast(ActorRequest, request._request).actor)
        return paginated(DataRelease.objects.published().select_related("run"), request, release_payload)


class ReleaseDownload(_ExportView):
    def get(self, request: Request, day: str, name: str) -> StreamingHttpResponse:
        require_exports(cast(ActorRequest, request._request).actor)
        file = find_file(day, name)
        ending = name.rpartition(".")[2]
        try:
            chunks = _read(file.stored_as)
        except FileNotFoundError as error:
            raise NotFound from error
        return StreamingHttpResponse(
            stream_chunks(chunks),
            content_type=CONTENT_TYPES.get(ending, "application/octet-stream"),
            headers={
                "Content-Disposition": f'attachment; filename="{day}-{name}"',
                "Content-Length": str(file.size),
                "ETag": f'"{file.sha256}"',
            },
        )


def _read(name: str) -> Iterator[bytes]:
    """Open the file and return its chunks. Raises FileNotFoundError."""
    file = default_storage.open(name)

    def chunks() -> Iterator[bytes]:
        with file:
            yield from file.chunks(_CHUNK_BYTES)

    return chunks()
