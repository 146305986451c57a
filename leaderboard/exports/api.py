"""API views that stream exports of votes and stars as files."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import cast

from django.http import QueryDict, StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Scope
from common.db.execution import run_in_db
from common.errors import NotFound
from leaderboard.exports import selection
from leaderboard.exports.access import export_scope, require_exports
from leaderboard.exports.writers import CONTENT_TYPES, WRITERS


class _FileView(APIView, ABC):
    @abstractmethod
    def open_export(self, params: QueryDict) -> selection.Export | selection.StarExport:
        """Return the export that the query selects."""

    @property
    def scopes(self) -> dict[str, Scope]:
        return {"GET": export_scope()}

    def get(self, request: Request, ending: str) -> StreamingHttpResponse:
        actor = cast(ActorRequest, request._request).actor
        if ending not in WRITERS:
            raise NotFound
        require_exports(actor)
        actor.count("export", fail_open=True)
        export = self.open_export(request.query_params)
        return StreamingHttpResponse(
            stream_chunks(WRITERS[ending](export.batches(), export.table)),
            content_type=CONTENT_TYPES[ending],
            headers={"Content-Disposition": f'attachment; filename="{export.name}.{ending}"'},
        )


class VoteExport(_FileView):
    """Pseudonymous votes: all, those since a time or number, or a snapshot's."""

    def open_export(self, params: QueryDict) -> selection.Export:
        prompts = params.get("prompts", "").lower() in ("1", "true")
        return selection.open_export(
            snapshot=params.get("snapshot", ""), since=params.get("since", ""), prompts=prompts
        )


class StarExport(_FileView):
    """Pseudonymous stars: all, those since a time or number, or a snapshot's."""

    def open_export(self, params: QueryDict) -> selection.StarExport:
        return selection.open_star_export(snapshot=params.get("snapshot", ""), since=params.get("since", ""))


async def stream_chunks(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield each chunk when the one before was sent; hold a database connection only while one is made."""
    while (chunk := await run_in_db(next, chunks, None)) is not None:
        yield chunk
