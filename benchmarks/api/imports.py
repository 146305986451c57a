"""Imports of files: preview first, then store."""

from django.core.files.uploadedfile import UploadedFile
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.api.idempotency import idempotent
from accounts.models import Scope
from accounts.teams.places import place_named
from benchmarks import access
from benchmarks.actions import importing
from benchmarks.api.requests import actor_of, member_of, validated
from benchmarks.api.serializers import ApplyImportSerializer, NewImportSerializer
from benchmarks.errors import ImportTooLarge
from benchmarks.imports.content import Request as ImportRequest
from benchmarks.imports.limits import MAX_FILE_BYTES
from benchmarks.payload_types import ImportPayload, TemplatePayload
from benchmarks.payloads import import_payload, template_payload
from common.api.parsers import Utf8JsonParser
from common.api_responses import Accepted, Created
from uploads.errors import NoFile

MAX_LINES = 1_000


class ImportViewSet(ViewSet):
    scopes = {"POST": Scope.BENCHMARK}
    parser_classes = [MultiPartParser]
    lookup_field = "public_id"

    @idempotent
    def create(self, request: Request) -> Accepted[ImportPayload]:
        member, file = member_of(request), request.FILES.get("file")
        chosen = validated(NewImportSerializer(data=request.data))
        if not isinstance(file, UploadedFile):
            raise NoFile
        if (file.size or 0) > MAX_FILE_BYTES:
            raise ImportTooLarge
        actor_of(request).count("upload", fail_open=True)
        import_request = ImportRequest(
            file.name or "", chosen["format"], chosen["mapping"], chosen["sheet"], encoding=chosen["encoding"]
        )
        preview = importing.preview(owner=member, content=file.read(), request=import_request)
        if not preview.id:
            places = [(f"{line['line']}: " if line["line"] else "", line) for line in preview.lines]
            refused = [place + line["sentence"] for place, line in places if line["action"] == "refused"]
            raise importing.ImportRefused(fields={"file": refused[:MAX_LINES]})
        return Accepted(import_payload(preview))

    @action(detail=True, methods=["post"], parser_classes=[Utf8JsonParser])
    @idempotent
    def apply(self, request: Request, public_id: str) -> Created[TemplatePayload]:
        member, chosen = actor_of(request).user, validated(ApplyImportSerializer(data=request.data))
        if member is None:
            raise importing.ImportGone
        template = None
        if chosen["template"]:
            template = access.get_template_or_404(actor_of(request), chosen["template"], to_edit=True)
        place = place_named(actor_of(request), chosen.get("team")) if template is None else None
        draft = importing.apply_preview(
            owner=member, preview_id=public_id.replace("\0", ""), template=template, team=place,
            with_answers=chosen["with_answers"],
        )  # fmt: skip
        return Created(template_payload(draft.template, actor_of(request)))
