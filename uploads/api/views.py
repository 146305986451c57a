from typing import cast

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from accounts.actor import Actor, ActorRequest, ensure_known_actor
from accounts.api.idempotency import idempotent
from accounts.models import Scope
from common.api.parsers import Utf8JsonParser
from common.api_responses import Accepted, Created, NoContent, PayloadResponse, paginated
from common.errors import NotFound
from common.payload_types import Page
from common.text.encodings import CODECS
from uploads import actions, downloads
from uploads.errors import NoFile
from uploads.files.deletion import delete_upload
from uploads.models import Upload
from uploads.payload_types import UploadPayload
from uploads.payloads import upload_summary


class EncodingSerializer(serializers.Serializer[None]):
    encoding = serializers.ChoiceField(choices=list(CODECS))


class UploadViewSet(ViewSet):
    scopes = {"POST": Scope.BATTLE, "DELETE": Scope.BATTLE}
    parser_classes = [MultiPartParser]
    lookup_field = "public_id"

    @property
    def actor(self) -> Actor:
        return cast(ActorRequest, self.request._request).actor

    def get_object(self) -> Upload:
        uploads = Upload.objects.owned_by(self.actor).kept().select_related("extraction")
        upload = uploads.filter(public_id=self.kwargs["public_id"]).first()
        if upload is None:
            raise NotFound
        return upload

    def _get_readable(self) -> Upload:
        upload = downloads.find_readable(self.actor, self.kwargs["public_id"])
        if upload is None:
            raise NotFound
        return upload

    def list(self, request: Request) -> PayloadResponse[Page[UploadPayload]]:
        uploads = Upload.objects.owned_by(self.actor).kept().order_by("-created_at", "-pk")
        return paginated(uploads, request, upload_summary)

    @idempotent
    def create(self, request: Request) -> Created[UploadPayload] | Accepted[UploadPayload]:
        file = request.FILES.get("file")
        if not isinstance(file, UploadedFile):
            raise NoFile
        actor = ensure_known_actor(cast(ActorRequest, request._request))
        upload = actions.keep_upload(actor=actor, content=file.read(), name=file.name or "")
        is_read = upload.state != Upload.State.EXTRACTING
        return Created(upload_summary(upload)) if is_read else Accepted(upload_summary(upload))

    def retrieve(self, request: Request, public_id: str) -> PayloadResponse[UploadPayload]:
        return PayloadResponse(upload_summary(self.get_object()))

    @action(detail=True, methods=["post"], parser_classes=[Utf8JsonParser])
    def encoding(self, request: Request, public_id: str) -> PayloadResponse[UploadPayload]:
        upload, chosen = self.get_object(), EncodingSerializer(data=request.data)
        chosen.is_valid(raise_exception=True)
        upload = actions.read_in_encoding(upload=upload, encoding=chosen.validated_data["encoding"])
        return PayloadResponse(upload_summary(upload))

    def destroy(self, request: Request, public_id: str) -> NoContent:
        delete_upload(self.get_object())
        return NoContent()

    @action(detail=True, methods=["get"])
    def text(self, request: Request, public_id: str) -> HttpResponse:
        return downloads.text(self._get_readable())

    @action(detail=True, methods=["get"])
    def image(self, request: Request, public_id: str) -> HttpResponse:
        return downloads.image(self._get_readable())

    @action(detail=True, methods=["get"])
    def file(self, request: Request, public_id: str) -> HttpResponse:
        return downloads.original(self.get_object())
