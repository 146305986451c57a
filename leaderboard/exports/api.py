"""API views that stream exports of votes, stars and interactions as files."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import cast

from django.http import QueryDict, StreamingHttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts import audit
from accounts.access import needs_second_factor
from accounts.actor import ActorRequest
from accounts.models import Scope
from battles import interactions
from common.db.execution import run_in_db
from common.db.replica import ReplicaReads
from common.errors import NotAllowed, NotFound
from common.tables.writers import CONTENT_TYPES, WRITERS
from leaderboard.boards.places import read_place
from leaderboard.errors import NoSuchSnapshot
from leaderboard.exports import interactions as exported_interactions
from leaderboard.exports import selection
from leaderboard.exports.access import export_scope, require_exports

INTERACTION_ENDINGS = ("jsonl", "csv")
MAY_READ = "battles.view_call"


class _FileView(APIView, ABC):
    @abstractmethod
    def open_export(self, params: QueryDict, team: int | None) -> selection.Export | selection.StarExport:
        """Return the export that the query selects."""

    @property
    def scopes(self) -> dict[str, Scope]:
        return {"GET": export_scope()}

    def get(self, request: Request, ending: str) -> StreamingHttpResponse:
        actor = cast(ActorRequest, request._request).actor
        if ending not in WRITERS:
            raise NotFound
        place = read_place(cast(ActorRequest, request._request), NoSuchSnapshot)
        if place.team is None:
            require_exports(actor)
        actor.count("export", fail_open=True)
        reads = ReplicaReads()
        export = reads.run(lambda: self.open_export(request.query_params, place.team_id))
        return _file_response(export, ending, reads)


class VoteExport(_FileView):
    """Pseudonymous votes: all, those since a time or number, or a snapshot's."""

    def open_export(self, params: QueryDict, team: int | None) -> selection.Export:
        prompts = params.get("prompts", "").lower() in ("1", "true")
        return selection.open_export(
            snapshot=params.get("snapshot", ""), since=params.get("since", ""), prompts=prompts, team=team
        )


class StarExport(_FileView):
    """Pseudonymous stars: all, those since a time or number, or a snapshot's."""

    def open_export(self, params: QueryDict, team: int | None) -> selection.StarExport:
        return selection.open_star_export(snapshot=params.get("snapshot", ""), since=params.get("since", ""), team=team)


class InteractionExport(APIView):
    """Every request to a model with its answer, for staff: it has the texts of everybody."""

    scopes = {"GET": Scope.EXPORT}

    def get(self, request: Request, ending: str) -> StreamingHttpResponse:
        actor = cast(ActorRequest, request._request).actor
        user = actor.user
        if ending not in INTERACTION_ENDINGS:
            raise NotFound
        if user is None or not user.has_perm(MAY_READ):
            raise NotAllowed(_("Only staff that may view calls reads the interaction log."))
        if needs_second_factor(user):
            raise NotAllowed(_("Set up a second factor: the administration opens with it."))
        actor.count("export", fail_open=True)
        chosen = {name: value for name in interactions.FILTERS if (value := request.query_params.get(name))}
        calls = interactions.select(interactions.readable_by(user.pk), chosen)
        # An e-mail address would outlive its account in the entry.
        if "@" in chosen.get("person", ""):
            chosen["person"] = ", ".join(f"user:{pk}" for pk in interactions.members_with(chosen["person"]))
        audit.record(user, "export interactions", ending, **chosen)
        return _file_response(exported_interactions.InteractionExport(calls), ending, ReplicaReads())


def _file_response(
    export: selection.Export | selection.StarExport | exported_interactions.InteractionExport,
    ending: str,
    reads: ReplicaReads,
) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        stream_chunks(reads.iterate(lambda: WRITERS[ending](export.batches(), export.table))),
        content_type=CONTENT_TYPES[ending],
        headers={"Content-Disposition": f'attachment; filename="{export.name}.{ending}"'},
    )


async def stream_chunks(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield each chunk when the one before was sent; hold a database connection only while one is made."""
    while (chunk := await run_in_db(next, chunks, None)) is not None:
        yield chunk
