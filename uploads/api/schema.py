"""Uploads, as OpenAPI describes them."""

from typing import Literal, TypedDict

from common.api.schema import File, Moment, Operation, Operations
from common.errors import NotFound, TooManyRequests
from uploads import errors
from uploads.api.serializers import NewUploadSerializer
from uploads.api.views import UploadViewSet


class Upload(TypedDict):
    """A file as it came. `media_type` is what its content is; `pages` and `characters` are of its text, once it was
    read. `error` says why it cannot be used."""

    id: str
    name: str
    media_type: str
    kind: Literal["document", "image"]
    size: int
    sha256: str
    state: Literal["extracting", "ready", "failed"]
    pages: int | None
    characters: int | None
    error: str | None
    created_at: Moment


OPERATIONS: Operations = {
    (UploadViewSet, "list"): Operation(
        summary="Your files, the newest first",
        description="Those that are kept. In which sessions one was used: `sessions/?upload=` and its id.",
        gives=Upload,
        is_list=True,
    ),
    (UploadViewSet, "create"): Operation(
        summary="Upload a file",
        description=(
            "PDF, text of any kind in UTF-8 or UTF-16, PNG, JPEG, WebP or GIF, at most 20 MB; its content decides, not "
            "its name. 202 while it is being read: fetch the upload until its `state` is `ready`. The same bytes again "
            "are the same upload."
        ),
        takes=NewUploadSerializer,
        gives=Upload,
        status=201,
        also=(202,),
        refuses=(
            errors.FileTooLarge,
            errors.UnknownFileType,
            errors.QuotaReached,
            errors.StorageFull,
            errors.StorageAway,
            TooManyRequests,
        ),
    ),
    (UploadViewSet, "retrieve"): Operation(
        summary="An upload", description="What is known of a file; `state` says how far it was read.", gives=Upload
    ),
    (UploadViewSet, "destroy"): Operation(
        summary="Delete a file",
        description="The file and its text are gone for good; prompts that used it say so.",
        status=204,
        refuses=(errors.IsBeingAnswered,),
    ),
    (UploadViewSet, "text"): Operation(
        summary="Exactly the text that goes into a prompt",
        description="Of a document; a picture has none.",
        gives=File("text/plain"),
        refuses=(errors.NotReadYet, errors.CannotBeRead),
    ),
    (UploadViewSet, "image"): Operation(
        summary="Exactly the picture that models are sent",
        description="Made anew of its pixels, smaller where it was large, without anything hidden in it.",
        gives=(File("image/png"), File("image/jpeg")),
        refuses=(errors.NotReadYet, errors.CannotBeRead),
    ),
    (UploadViewSet, "file"): Operation(
        summary="The file as it came",
        description="Byte for byte, to be saved: it is sent as an attachment.",
        gives=File("*/*"),
        refuses=(NotFound,),
    ),
}
