"""Votes as files through the API, sent as they are read."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import cast

from django.conf import settings
from django.http import QueryDict, StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Scope
from common.db.execution import run_in_db
from common.errors import NotAllowed, NotFound
from common.valkey import limits
from leaderboard.exports import selection
from leaderboard.exports.writers import CONTENT_TYPES, WRITERS


class _FileView(APIView, ABC):
    @abstractmethod
    def opened(self, asked: QueryDict) -> selection.Export | selection.StarExport:
        """What the query asks for."""

    @property
    def scopes(self) -> dict[str, Scope]:
        return {"GET": Scope.READ if settings.ARENA_PUBLISH_VOTES else Scope.EXPORT}

    def get(self, request: Request, ending: str) -> StreamingHttpResponse:
        actor = cast(ActorRequest, request._request).actor
        if ending not in WRITERS:
            raise NotFound
        if not settings.ARENA_PUBLISH_VOTES and actor.user is None:
            raise NotAllowed(
                _("This arena does not publish its votes. A member's token with the scope “export” reads them.")
            )
        limits.count("export", actor.limit_keys, fail_open=True)
        asked = request.query_params
        export = self.opened(asked)
        return StreamingHttpResponse(
            _sent_on(WRITERS[ending](export.batches(), export.table)),
            content_type=CONTENT_TYPES[ending],
            headers={"Content-Disposition": f'attachment; filename="{export.name}.{ending}"'},
        )


class VoteExport(_FileView):
    """Pseudonymous votes: all that were cast, those since a time or a number, or those of a snapshot."""

    def opened(self, asked: QueryDict) -> selection.Export:
        prompts = asked.get("prompts", "").lower() in ("1", "true")
        return selection.open_export(snapshot=asked.get("snapshot", ""), since=asked.get("since", ""), prompts=prompts)


class StarExport(_FileView):
    """Pseudonymous stars: all that were given, those since a time or a number, or those that a snapshot knew."""

    def opened(self, asked: QueryDict) -> selection.StarExport:
        return selection.open_star_export(snapshot=asked.get("snapshot", ""), since=asked.get("since", ""))


async def _sent_on(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each piece is made when the one before it is on its way, and holds a connection only while it is made."""
    while (piece := await run_in_db(next, pieces, None)) is not None:
        yield piece
